import assert from 'node:assert/strict'
import type { JsonObject } from '../../protocol/json.ts'
import { address, column, create, refused } from '../expect.ts'
import type { Api, Scenario } from '../scenario.ts'

/** Strings with characters that have a meaning in SQL, patterns or encodings. */
const texts = [
  '',
  'a',
  'A',
  'ab',
  'a%b',
  'a_b',
  'axb',
  'a\\b',
  'a\\%b',
  'a*b',
  'a?b',
  'a[x]b',
  '[a]',
  'a^b',
  '100%',
  "it's",
  '"quoted"',
  'line\nbreak',
  'tab\t',
  'é',
  'e\u0301',
  'ß',
  'SS',
  'İ',
  '🦁',
  'a🦁b',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '\u{10ffff}',
  'a\u{10ffff}b',
  ' a ',
]

/** Search terms: whole, in part, and in the other letter case. */
const needles = [
  ...texts,
  '%',
  '_',
  '\\',
  '*',
  '?',
  '[',
  ']',
  '^',
  "'",
  '"',
  '\n',
  'B',
  'X',
  '\u0301',
  'e',
  '\\\\',
  '%%',
  'b',
]

const meanings = {
  contains: (text: string, needle: string) => text.includes(needle),
  startsWith: (text: string, needle: string) => text.startsWith(needle),
  endsWith: (text: string, needle: string) => text.endsWith(needle),
} as const

/** Patterns and the entries of `texts` that they match. */
const patterns: readonly (readonly [pattern: string, matched: readonly string[]])[] = [
  ['%', texts],
  ['%%', texts],
  ['_', ['a', 'A', 'é', 'ß', 'İ', '🦁', '\ud7ff', '\ue000', '\uffff', '\u{10ffff}']],
  ['__', ['ab', 'e\u0301', 'SS']],
  ['a', ['a']],
  ['a%', texts.filter((text) => text.startsWith('a'))],
  ['%b', texts.filter((text) => text.endsWith('b'))],
  ['a_b', ['a%b', 'a_b', 'axb', 'a\\b', 'a*b', 'a?b', 'a^b', 'a🦁b', 'a\u{10ffff}b']],
  ['a\\_b', ['a_b']],
  ['a\\%b', ['a%b']],
  ['a\\\\b', ['a\\b']],
  ['a\\\\\\%b', ['a\\%b']],
  ['\\a', ['a']],
  ['%\\%', ['100%']],
  ['%\\%%', ['a%b', 'a\\%b', '100%']],
  ['a*b', ['a*b']],
  ['a?b', ['a?b']],
  ['[a]', ['[a]']],
  ['a[x]b', ['a[x]b']],
  ['a^b', ['a^b']],
  ['%🦁%', ['🦁', 'a🦁b']],
  ['line_break', ['line\nbreak']],
  ['line%', ['line\nbreak']],
  ["%'%", ["it's"]],
  ['%"', ['"quoted"']],
  ['_a_', ['[a]', ' a ']],
  ['%a%b%', texts.filter((text) => /a.*b/su.test(text))],
  ['A%', ['A']],
]

async function fill(api: Api): Promise<void> {
  for (const label of texts) await create(api, 'specimen', { label })
  await create(api, 'specimen', {})
}

const find = async (api: Api, modifier: string, operand: string) =>
  column(
    await api.request('GET', address('/specimen', { where: { label: { [modifier]: operand } }, limit: '100' })),
    'label',
  )

/** Text search: case-sensitive but for `ilike`; only the wildcards of `like` are special. */
export const textSearch: readonly Scenario[] = [
  ...Object.entries(meanings).map(
    ([modifier, meaning]) =>
      ({
        name: `text: ${modifier} treats every character literally`,
        async run(api) {
          await fill(api)
          for (const needle of needles) {
            const expected = texts.filter((text) => meaning(text, needle))
            assert.deepEqual(await find(api, modifier, needle), expected, JSON.stringify(needle))
          }
        },
      }) satisfies Scenario,
  ),
  {
    name: 'text: like supports % and _, escaped by a backslash',
    async run(api) {
      await fill(api)
      for (const [pattern, matched] of patterns) {
        assert.deepEqual(await find(api, 'like', pattern), matched, JSON.stringify(pattern))
      }
    },
  },
  {
    name: 'text: ilike is like, whatever the letter case',
    async run(api) {
      const words = [
        'René',
        'RENÉ',
        'rene',
        'ÉMILE',
        'Straße',
        'STRASSE',
        'ΟΔΟΣ',
        'οδος',
        'İst',
        'ist',
        '\u212alein',
        'a.b',
        'A\nB',
      ]
      words.push('50%', '[x]', 'Ж🦁', '^$')
      for (const label of words) await create(api, 'specimen', { label })
      await create(api, 'specimen', {})
      const cases: readonly (readonly [pattern: string, matched: readonly string[]])[] = [
        ['rené', ['René', 'RENÉ']],
        ['RENE', ['rene']],
        ['%é%', ['René', 'RENÉ', 'ÉMILE']],
        ['strasse', ['STRASSE']],
        ['STRA\u1e9eE', ['Straße']],
        ['οδος', ['ΟΔΟΣ', 'οδος']],
        ['Οδοσ', ['ΟΔΟΣ', 'οδος']],
        ['IST', ['ist']],
        ['İST', ['İst']],
        ['_st', ['İst', 'ist']],
        ['Klein', ['\u212alein']],
        ['A.B', ['a.b']],
        ['a_b', ['a.b', 'A\nB']],
        ['%\\%', ['50%']],
        ['[X]', ['[x]']],
        ['ж_', ['Ж🦁']],
        ['^$', ['^$']],
        ['%', words],
      ]
      for (const [pattern, matched] of cases)
        assert.deepEqual(await find(api, 'ilike', pattern), matched, JSON.stringify(pattern))
      const first = await api.request('GET', address('/specimen', { ilike: { label: 'REN%' } }))
      assert.deepEqual(column(first, 'label'), ['René', 'RENÉ', 'rene'])
    },
  },
  {
    name: 'text: equality and lists treat every character literally',
    async run(api) {
      await fill(api)
      for (const text of texts) {
        const equal = address('/specimen', { where: { label: text }, limit: '100' })
        assert.deepEqual(column(await api.request('GET', equal), 'label'), [text])
        const among = address('/specimen', { where: { label: [text, 'nobody'] }, limit: '100' })
        assert.deepEqual(column(await api.request('GET', among), 'label'), [text])
      }
    },
  },
  {
    name: 'text: empty and overlong patterns are refused',
    async run(api) {
      const cases: readonly JsonObject[] = [
        { like: '' },
        { ilike: '' },
        { ilike: 'a'.repeat(1001) },
        { like: 'a'.repeat(1001) },
        { contains: 'a'.repeat(1001) },
        { startsWith: '🦁'.repeat(501) },
      ]
      for (const condition of cases) {
        refused(await api.request('GET', address('/specimen', { where: { label: condition } })), 'E_BAD_CRITERIA', {
          attribute: 'label',
        })
      }
      await create(api, 'specimen', { label: 'a'.repeat(1000) })
      assert.equal((await find(api, 'contains', 'a'.repeat(1000))).length, 1)
    },
  },
]
