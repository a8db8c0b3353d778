import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

/*
 * Comments and documentation name data and mechanisms. These words turn persons or metaphors into the subject of a
 * sentence, and each has a plain replacement: "a client that …", "another process", "layer", "Sails", "receives", "is sent".
 */
const persons = 'who|whoever|whom|somebody|nobody|anybody|everybody|strangers?|ancestors?|neighbours?'
const metaphors = 'houses?|floors?|roofs?|rooms?'
const speech = 'told|heard|hears|speaks|lives (?:in|on)'
const offender = new RegExp(`\\b(?:${persons}|${metaphors}|${speech})\\b`, 'gi')

/** Places where such a word is a term. Each has its reason. */
const exceptions: readonly { readonly path: RegExp; readonly text: RegExp; readonly reason: string }[] = [
  { path: /^test\/structure\/language/, text: /./, reason: 'this test lists the words' },
  { path: /^test\/support\/embedded-postgres/, text: /`nobody`/, reason: 'the name of a Unix user' },
  { path: /change-log\/(?:trim|change-log)\.ts$/, text: /floor/, reason: 'a lower bound of numbers' },
  { path: /^test\/docs\/examples/, text: /room\.equippedFor/, reason: 'a model of the clinic example' },
]

const everything = [
  '*.md',
  '.ci/*',
  '.github/**/*.yml',
  'bin/*.js',
  'docs/**/*.md',
  '{bench,examples,src,test}/**/*.{js,ts,md}',
]

const excluded = ['**/node_modules/**']

interface Line {
  readonly number: number
  readonly text: string
}

/** The comments and test titles of a source file; other string and template literals are passed over. */
function comments(source: string): readonly Line[] {
  const comment = String.raw`\/\*[\s\S]*?\*\/|(?<![:\\])\/\/[^\n]*`
  const literal = String.raw`'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\`(?:[^\`\\]|\\.)*\``
  const token = new RegExp(String.raw`(?<prose>${comment}|\b(?:test|describe)\((?:${literal}))|${literal}`, 'g')
  const found: Line[] = []
  for (const { groups, index } of source.matchAll(token)) {
    const first = source.slice(0, index).split('\n').length
    groups?.prose?.split('\n').forEach((text, line) => {
      found.push({ number: first + line, text })
    })
  }
  return found
}

/** The prose of a Markdown page: everything outside of code blocks and code spans. */
function prose(page: string): readonly Line[] {
  const withoutCode = page
    .replace(/^(`{3,})[\s\S]*?^\1/gm, (block) => block.replace(/[^\n]/g, ''))
    .replace(/`[^`\n]*`/g, '')
  return withoutCode.split('\n').map((text, index) => ({ number: index + 1, text }))
}

function shellComments(script: string): readonly Line[] {
  return script.split('\n').map((text, index) => ({ number: index + 1, text: /(?:^|\s)#.*$/.exec(text)?.[0] ?? '' }))
}

function offences(path: string, text: string): readonly string[] {
  const lines = path.endsWith('.md') ? prose(text) : /\.[jt]s$/.test(path) ? comments(text) : shellComments(text)
  return lines.flatMap(({ number, text: line }) => {
    const isException = exceptions.some((exception) => exception.path.test(path) && exception.text.test(line))
    const words = isException ? [] : [...line.matchAll(offender)].map(([word]) => word)
    return words.map((word) => `${path}:${number} "${word}" in: ${line.trim()}`)
  })
}

test('prose names data and mechanisms, not persons or buildings', () => {
  const root = new URL('../../', import.meta.url)
  const paths = globSync(everything, { cwd: root, exclude: excluded }).map((path) => path.replaceAll('\\', '/'))
  assert.ok(paths.length > 50, 'expected more files')
  const found = paths.flatMap((path) => offences(path, readFileSync(new URL(path, root), 'utf8')))
  assert.deepEqual(found, [])
})

test('comments, test titles and pages are checked; strings and code are not', () => {
  const source =
    "test('a house')\nconst a = 'who' // whom\n/*\n * somebody\n */\nconst b = 'http://nobody' + `// floor`"
  assert.deepEqual(
    offences('src/x.ts', source).map((offence) => offence.split(' in: ')[0]),
    ['src/x.ts:1 "house"', 'src/x.ts:2 "whom"', 'src/x.ts:4 "somebody"'],
  )
  const page = 'A house.\n```ts\nconst room = 1\n```\nThe `floor` of nobody.'
  assert.deepEqual(
    offences('docs/x.md', page).map((offence) => offence.split(' in: ')[0]),
    ['docs/x.md:1 "house"', 'docs/x.md:5 "nobody"'],
  )
})
