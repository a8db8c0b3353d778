/** A fenced block of a page that is to be run. */
export interface Block {
  readonly kind: 'sh' | 'ts' | 'js'
  readonly text: string
  /** Where its text begins in the page. */
  readonly line: number
  /** What a program prints, as the block below that is tagged `output` says it, or the comments below its `console.log`. */
  readonly output: string | undefined
}

export interface Command {
  readonly text: string
  /** What the page says it prints; '' when it says nothing. */
  readonly expected: string
}

const opening = /^```(\w+) run\s*$/
const isKind = (word: string | undefined): word is Block['kind'] => word === 'sh' || word === 'ts' || word === 'js'

/** The blocks tagged `sh run`, `ts run` and `js run`, in their order. Throws for a tag that means nothing. */
export function blocksOf(page: string): readonly Block[] {
  const lines = page.split('\n')
  const blocks: Block[] = []
  for (let index = 0; index < lines.length; index++) {
    if (!lines[index]?.startsWith('```')) continue
    const [, kind] = opening.exec(lines[index] as string) ?? []
    const end = closing(lines, index)
    if (isKind(kind)) {
      const text = lines.slice(index + 1, end).join('\n')
      blocks.push({ kind, text, line: index + 2, output: outputAfter(lines, end) ?? outputIn(text) })
    } else if (/\brun\b/.test(lines[index] as string))
      throw new Error(`line ${index + 1}: only sh, ts and js can be run`)
    index = end
  }
  return blocks
}

function closing(lines: readonly string[], from: number): number {
  const end = lines.findIndex((line, index) => index > from && line.startsWith('```'))
  if (end === -1) throw new Error(`line ${from + 1}: the block has no end`)
  return end
}

function outputAfter(lines: readonly string[], end: number): string | undefined {
  const next = lines.findIndex((line, index) => index > end && line.trim() !== '')
  return lines[next]?.trim() === '```output' ? lines.slice(next + 1, closing(lines, next)).join('\n') : undefined
}

/** Comments right below a `console.log`; what is printed between them is anything. */
function outputIn(text: string): string | undefined {
  const said = [...text.matchAll(/console\.log\(.*\n((?:[ \t]*\/\/ .*\n?)+)/g)].map(([, comments]) =>
    comments?.replaceAll(/^[ \t]*\/\/ /gm, ''),
  )
  return said.length === 0 ? undefined : `…${said.join('…')}…`
}

/**
 * The commands of a `sh` block: lines that begin with `$ `, gone on with by a backslash or an open quote, each with the
 * lines below it that it prints. A block without prompts is one command.
 */
export function commandsOf(text: string): readonly Command[] {
  if (!/^\$ /m.test(text)) return [{ text, expected: '' }]
  const commands: { text: string; expected: string[] }[] = []
  for (const line of text.split('\n')) {
    const last = commands.at(-1)
    if (line.startsWith('$ ')) commands.push({ text: line.slice(2), expected: [] })
    else if (last && last.expected.length === 0 && goesOn(last.text)) last.text += `\n${line.replace(/^> /, '')}`
    else last?.expected.push(line)
  }
  return commands.map(({ text, expected }) => ({ text, expected: expected.join('\n').trim() }))
}

const goesOn = (text: string): boolean => text.endsWith('\\') || text.split("'").length % 2 === 0

/** A program that begins with `// name.ts` is the file of that name. */
export const fileNameOf = ({ text }: Block): string | undefined =>
  /^\/\/ ([\w./-]+\.[jt]s)\s*$/m.exec(text.split('\n', 1)[0] as string)?.[1]
