import type { Json } from '../../protocol/json.ts'
import { address, refused } from '../expect.ts'
import type { Scenario } from '../scenario.ts'

const refusals = (name: string, wheres: readonly (string | Json)[], more = {}): Scenario => ({
  name: `where: ${name}`,
  async run(api) {
    for (const where of wheres) {
      const answer = await api.request('GET', address('/specimen', { where }))
      refused(answer, 'E_BAD_CRITERIA', more)
    }
  },
})

/** Conditions that are refused, with what is wrong. */
export const whereRefusals: readonly Scenario[] = [
  refusals('an invalid condition is refused, never ignored', [
    'bad',
    '',
    'null',
    'true',
    'false',
    'undefined',
    "{'label':'ann'}",
    '{"label":"ann"',
    '[{"label":"ann"}]',
    '[null]',
    '[[1]]',
    '{"id":[[1]]}',
    '"abc"',
    '1.5',
  ]),
  refusals('and, or and not accept conditions only', [
    { or: {} },
    { or: 'x' },
    { or: [5] },
    { or: [null] },
    { or: [[]] },
    { or: { 0: { label: 'a' }, length: 1 } },
    { and: { label: 'a' } },
    { and: null },
    { not: [] },
    { not: [{ label: 'a' }] },
    { not: null },
    { not: 'x' },
  ]),
  refusals('unknown words', [
    { nor: [{ label: 'a' }] },
    { $or: [{ label: 'a' }] },
    { OR: [{ label: 'a' }] },
    { '!': { label: 'a' } },
    { label: 'a', limit: 1 },
    { 'legs.x': 1 },
    { Label: 'a' },
    { 'label ': 'a' },
    { where: { label: 'a' } },
  ]),
  refusals(
    'unknown modifiers, and modifiers without an operand',
    [
      ...[
        'gt',
        'gte',
        'lt',
        'lte',
        'between',
        'regex',
        '$gt',
        'eq',
        '==',
        '=',
        'LIKE',
        'toString',
        '__proto__',
        'constructor',
        '',
      ].map((word) => ({
        legs: { [word]: 1 },
      })),
      { legs: {} },
      { legs: { '>': {} } },
      { legs: { '>': [1] } },
      { legs: { '!=': {} } },
      { legs: { '>': 1, nosuch: 2 } },
    ],
    { attribute: 'legs' },
  ),
  refusals('null is refused by ordering modifiers and lists', [
    { legs: { '<': null } },
    { legs: { '>=': null } },
    { legs: { in: [1, null] } },
    { legs: { nin: [null] } },
    { legs: [null] },
    { label: { contains: null } },
    { label: { like: null } },
  ]),
  refusals('in and nin accept lists only', [
    { legs: { in: 1 } },
    { legs: { in: '1,2' } },
    { legs: { nin: {} } },
    { legs: { in: null } },
    { legs: [[1]] },
  ]),
  refusals('types without an order refuse ordering modifiers', [
    { alive: { '<': true } },
    { alive: { '>=': 0 } },
    { notes: { '>': 1 } },
    { photo: { '<': 'AAEC' } },
  ]),
  refusals('JSON and bytes can only be compared by equality and with null', [
    { notes: {} },
    { notes: { a: 1 } },
    { notes: [1] },
    { notes: { '!=': 5 } },
    { notes: { contains: 'x' } },
    { notes: 'a\0b' },
    { photo: '!' },
    { photo: ['AAEC'] },
    { photo: { nin: ['AAEC'] } },
  ]),
  refusals('text modifiers apply to strings only', [
    { legs: { contains: '1' } },
    { weight: { startsWith: '1' } },
    { alive: { endsWith: 'e' } },
    { serial: { like: '%1' } },
    { bornAt: { startsWith: '2026' } },
    { token: { contains: 'a' } },
  ]),
]
