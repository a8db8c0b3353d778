import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { blocksOf, commandsOf } from './docs/blocks.ts'
import { isLoosely } from './docs/loosely.ts'
import { Page } from './docs/page.ts'

const root = new URL('../', import.meta.url)
const docs = readdirSync(new URL('docs/', root), { recursive: true }) as string[]
const pages = ['README.md', ...docs.filter((file) => file.endsWith('.md')).map((file) => `docs/${file}`)]
const skip = ['bash', 'curl'].find((tool) => spawnSync(tool, ['--version']).status !== 0)

const read = (page: string): string =>
  existsSync(new URL(page, root)) ? readFileSync(new URL(page, root), 'utf8') : ''

for (const page of ['test/docs/fixture.md', ...pages]) {
  const blocks = blocksOf(read(page))
  test(`${page} does what it says: ${blocks.length} blocks`, {
    skip: skip ? `${skip} is not installed` : blocks.length === 0 && 'nothing in it is to be run',
  }, async () => {
    await using opened = await Page.open(page)
    for (const block of blocks) await opened.run(block)
  })
}

describe('a page that says what is not so', () => {
  const fence = '```'
  const cases: readonly (readonly [what: string, page: string, message: RegExp])[] = [
    ['another output', `${fence}sh run\n$ echo yes\nno\n${fence}`, /page:2 prints something else[\s\S]*yes[\s\S]*no/],
    ['a command that fails', `${fence}sh run\n$ true\n$ false\n${fence}`, /page:2 ends with 1\n\$ false/],
    [
      'a request that is refused',
      `${fence}sh run\n$ curl --fail http://localhost:1337/nothing\n${fence}`,
      /ends with 22/,
    ],
    [
      'a program that fails',
      `${fence}ts run\nthrow new Error('so it is')\n${fence}`,
      /page:2 ends with 1[\s\S]*so it is/,
    ],
    [
      'a program that prints something else',
      `${fence}js run\nconsole.log(1)\n${fence}\n\n${fence}output\n2\n${fence}`,
      /prints something else/,
    ],
    [
      'a comment below a printing',
      `${fence}js run\nconsole.log(1)\n// 1\nconsole.log(2)\n  // 3\n${fence}`,
      /prints something else/,
    ],
  ]
  for (const [what, text, message] of cases) {
    test(what, { skip: skip ?? false }, async () => {
      await using opened = await Page.open('page')
      const [block] = blocksOf(text)
      assert.ok(block)
      await assert.rejects(opened.run(block), { name: 'AssertionError', message })
    })
  }

  test('tags that cannot be run, and blocks without an end', () => {
    assert.throws(() => blocksOf(`${fence}python run\n1\n${fence}`), /line 1: only sh, ts and js/)
    assert.throws(() => blocksOf(`text\n${fence}sh run\n$ true`), /line 2: the block has no end/)
  })
})

test('the commands of a block, and what each prints', () => {
  assert.deepEqual(commandsOf("$ one \\\n  more\na\nb\n\n$ two 'x\n> y'\n$ three\n…"), [
    { text: 'one \\\n  more', expected: 'a\nb' },
    { text: "two 'x\ny'", expected: '' },
    { text: 'three', expected: '…' },
  ])
  assert.deepEqual(commandsOf('one\ntwo'), [{ text: 'one\ntwo', expected: '' }])
})

describe('loosely', () => {
  for (const [actual, expected, same] of [
    ['{"a":1,"b":[2]}', '{\n  "a": 1,\n  "b": [2]\n}', true],
    ['{"a":1}', '{"a":2}', false],
    ['{"a":1}', '{"a":1', false],
    ['at 2026-01-02T03:04:05.678Z', 'at 2020-12-31T00:00:00Z', true],
    ['{"a":1,"b":2,"c":3}', '{"a":1, … "c":3}', true],
    ['{"a":1,"b":2,"c":3}', '{ ... "b":2 ... }', true],
    ['{"a":1,"b":2,"c":3}', '{"a":1, … "d":3}', false],
    ['ab', 'ab…b', false],
    ['anything', '…', true],
  ] as const) {
    test(`${actual} ${same ? 'is' : 'is not'} ${expected.replaceAll('\n', ' ')}`, () =>
      assert.equal(isLoosely(actual, expected), same))
  }
})
