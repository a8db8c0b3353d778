import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { blocksOf, commandsOf } from './blocks.ts'
import { matchesExpected } from './expected-output.ts'
import { Page } from './page.ts'
import { firstPages, missingTool, testExamples } from './test-examples.ts'

/* Pages that newcomers read first; the others are in `docs.slow.test.ts`. */
testExamples(firstPages)

describe('a wrong example is reported', () => {
  const fence = '```'
  const cases: readonly (readonly [what: string, page: string, message: RegExp])[] = [
    [
      'a command with another output',
      `${fence}sh run\n$ echo yes\nno\n${fence}`,
      /page:2 prints another output[\s\S]*yes[\s\S]*no/,
    ],
    ['a command that fails', `${fence}sh run\n$ true\n$ false\n${fence}`, /page:2 exits with 1\n\$ false/],
    ['a request that fails', `${fence}sh run\n$ curl --fail http://localhost:1337/nothing\n${fence}`, /exits with 22/],
    [
      'a program that fails',
      `${fence}ts run\nthrow new Error('wrong value')\n${fence}`,
      /page:2 exits with 1[\s\S]*wrong value/,
    ],
    [
      'a program that prints another output',
      `${fence}js run\nconsole.log(1)\n${fence}\n\n${fence}output\n2\n${fence}`,
      /prints another output/,
    ],
    [
      'a wrong comment below console.log',
      `${fence}js run\nconsole.log(1)\n// 1\nconsole.log(2)\n  // 3\n${fence}`,
      /prints another output/,
    ],
    [
      'a wrong comment below the loop that prints',
      `${fence}js run\nfor (const n of [1, 2]) {\n  console.log(n)\n  if (n > 9) break\n}\n// 1\n// 3\n${fence}`,
      /prints another output/,
    ],
    [
      'a wrong comment below a call of several lines',
      `${fence}js run\nconsole.log(\n  1,\n)\n// 2\n${fence}`,
      /prints another output/,
    ],
    [
      'a wrong comment below what a function has printed',
      `${fence}js run\nconst print = async (n) => console.log(n)\nawait print(1)\n// 2\n${fence}`,
      /prints another output/,
    ],
  ]
  for (const [what, text, message] of cases) {
    test(what, { skip: missingTool ?? false }, async () => {
      await using opened = await Page.open('page')
      const [block] = blocksOf(text)
      assert.ok(block)
      await assert.rejects(opened.run(block), { name: 'AssertionError', message })
    })
  }

  test('an unsupported language, and a block without an end', () => {
    assert.throws(() => blocksOf(`${fence}python run\n1\n${fence}`), /line 1: only sh, ts and js/)
    assert.throws(() => blocksOf(`text\n${fence}sh run\n$ true`), /line 2: the block has no end/)
  })
})

test('a block is split into commands with their expected output', () => {
  assert.deepEqual(commandsOf("$ one \\\n  more\na\nb\n\n$ two 'x\n> y'\n$ three\n…"), [
    { text: 'one \\\n  more', expected: 'a\nb' },
    { text: "two 'x\ny'", expected: '' },
    { text: 'three', expected: '…' },
  ])
  assert.deepEqual(commandsOf('one\ntwo'), [{ text: 'one\ntwo', expected: '' }])
})

describe('matching an expected output', () => {
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
    test(`${actual} ${same ? 'matches' : 'does not match'} ${expected.replaceAll('\n', ' ')}`, () =>
      assert.equal(matchesExpected(actual, expected), same))
  }
})
