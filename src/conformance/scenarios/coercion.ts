import assert from 'node:assert/strict'
import type { Json } from '../../protocol/json.ts'
import { address, column, create, invalid, list, nothingStored, record, refused } from '../expect.ts'
import type { Scenario } from '../scenario.ts'

type Accepted = readonly (readonly [given: Json, stored: Json])[]

interface Subject {
  readonly attribute: string
  readonly accepted: Accepted
  readonly refused: readonly Json[]
  /** False for bytes and JSON, which can be stored but not compared. */
  readonly isFiltered?: false
}

const same = (...values: readonly Json[]): Accepted => values.map((value) => [value, value])

const subjects: readonly Subject[] = [
  {
    attribute: 'weight',
    accepted: [
      ...same(25, 0.5, -1e-7, 1.7976931348623157e308, 5e-324, 2 ** 53, 2 ** 53 + 2, 0),
      ['25', 25],
      ['25.0', 25],
      ['1e3', 1000],
      ['0x10', 16],
      ['-0', 0],
      [true, 1],
      [false, 0],
      ['0.1', 0.1],
      ['.5', 0.5],
    ],
    refused: [
      '',
      'abc',
      ' 1',
      '1 ',
      '1,5',
      '1e400',
      'NaN',
      'Infinity',
      '-Infinity',
      '１',
      '1_000',
      '1n',
      [],
      [1],
      {},
      { '>': 1 },
    ],
  },
  {
    attribute: 'legs',
    accepted: [
      ...same(4, 0, -4, 9007199254740991, -9007199254740991),
      ['4', 4],
      ['4.0', 4],
      ['1e3', 1000],
      ['0004', 4],
      [true, 1],
    ],
    refused: [1.5, '1.5', 9007199254740992, '9007199254740993', 1e21, '', 'four', [4], {}],
  },
  {
    attribute: 'serial',
    accepted: [
      ...same('0', '-1', '9223372036854775807', '-9223372036854775808', '9007199254740993'),
      [5, '5'],
      ['007', '7'],
      ['+7', '7'],
      ['-0', '0'],
      [9007199254740991, '9007199254740991'],
    ],
    refused: [
      '9223372036854775808',
      '-9223372036854775809',
      1.5,
      '1.5',
      '1e3',
      '0x10',
      '',
      ' 7',
      9007199254740992,
      true,
      [],
      {},
    ],
  },
  {
    attribute: 'alive',
    accepted: [
      ...same(true, false),
      ['true', true],
      ['false', false],
      ['1', true],
      ['0', false],
      [1, true],
      [0, false],
    ],
    refused: ['yes', 'no', '', 'TRUE', 'True', 't', 2, -1, '2', [], {}, [true]],
  },
  {
    attribute: 'label',
    accepted: [
      ...same('x', '', ' x ', 'null', 'true', '{"a":1}', '%', "it's"),
      [5, '5'],
      [1.5, '1.5'],
      [true, 'true'],
      [1e21, '1e+21'],
    ],
    refused: [[], ['x'], {}, { contains: 'x' }, 'a\0b'],
  },
  {
    attribute: 'bornAt',
    accepted: [
      ...same(
        '2026-01-01T00:00:00.000Z',
        '0001-01-01T00:00:00.000Z',
        '9999-12-31T23:59:59.999Z',
        '2024-02-29T12:00:00.001Z',
      ),
      ['2026-01-01', '2026-01-01T00:00:00.000Z'],
      ['2026-01-01T12:00', '2026-01-01T12:00:00.000Z'],
      ['2026-01-01 12:00:00', '2026-01-01T12:00:00.000Z'],
      ['2026-01-01T12:00:00+02:00', '2026-01-01T10:00:00.000Z'],
      ['2026-01-01T12:00:00.123999Z', '2026-01-01T12:00:00.123Z'],
      ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
      [0, '1970-01-01T00:00:00.000Z'],
      [-1, '1969-12-31T23:59:59.999Z'],
      [1732151515123, '2024-11-21T01:11:55.123Z'],
    ],
    refused: [
      '2026-02-29',
      '2026-13-01',
      '2026-01-01T25:00:00Z',
      '2026-01-01T00:60:00Z',
      '0000-01-01',
      '10000-01-01',
      '+275760-09-13T00:00:00Z',
      '2026-01-01T00:00:00+24:00',
      '0001-01-01T00:00:00+01:00',
      'yesterday',
      '',
      '2026',
      '01.01.2026',
      1e20,
      true,
      [],
      {},
    ],
  },
  {
    attribute: 'token',
    accepted: [
      ['0190163D-8694-739B-AEA5-966C26F8AD90', '0190163d-8694-739b-aea5-966c26f8ad90'],
      ...same('00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
    ],
    refused: ['x', '', '0190163d8694739baea5966c26f8ad90', '{0190163d-8694-739b-aea5-966c26f8ad90}', 5, true, [], {}],
  },
  {
    attribute: 'photo',
    accepted: same('AAEC', '', '/+8=', 'AA=='),
    refused: ['AAE', '!!!!', 'AAE=AAE=', 'AB==', '_-8=', 5, true, [], {}],
    isFiltered: false,
  },
]

/** Strings are accepted everywhere; other values can only be sent as JSON. */
const spellingsOf = (given: Json) => (typeof given === 'string' ? ['json', 'query', 'where'] : ['json', 'where'])

/** A value is converted in the same way whether it stands in a JSON body, a query string, a filter or a condition. */
export const coercion: readonly Scenario[] = [
  ...subjects.map(
    ({ attribute, accepted, isFiltered }) =>
      ({
        name: `coercion: accepted values of "${attribute}", stored and queried`,
        async run(api) {
          for (const [given, expected] of accepted) {
            const hint = `${attribute} ${JSON.stringify(given)}`
            const made = await create(api, 'specimen', { [attribute]: given })
            assert.deepEqual(made[attribute], expected, hint)
            if (typeof given === 'string') {
              const byGet = record(await api.request('GET', address('/specimen/create', { [attribute]: given })), 201)
              assert.deepEqual(byGet[attribute], expected, hint)
              const updated = await api.request('GET', address(`/specimen/update/${made.id}`, { [attribute]: given }))
              assert.deepEqual(record(updated)[attribute], expected, hint)
              record(await api.request('DELETE', `/specimen/${byGet.id}`))
            }
            if (isFiltered !== false) {
              const wheres: readonly Json[] = [
                { [attribute]: given },
                { [attribute]: [given] },
                { not: { [attribute]: { '!=': given } } },
              ]
              for (const where of wheres) {
                assert.deepEqual(
                  column(await api.request('GET', address('/specimen', { where })), 'id'),
                  [made.id],
                  hint,
                )
              }
              if (typeof given === 'string') {
                assert.deepEqual(
                  column(await api.request('GET', address('/specimen', { [attribute]: given })), 'id'),
                  [made.id],
                  hint,
                )
              }
            }
            record(await api.request('DELETE', `/specimen/${made.id}`))
          }
        },
      }) satisfies Scenario,
  ),
  ...subjects.map(
    (subject) =>
      ({
        name: `coercion: refused values of "${subject.attribute}", in bodies, filters and conditions`,
        async run(api) {
          const { attribute } = subject
          for (const given of subject.refused) {
            for (const spelling of spellingsOf(given)) {
              if (spelling === 'json') {
                invalid(await api.request('POST', '/specimen', { body: { [attribute]: given } }), {
                  [attribute]: ['type'],
                })
              } else if (spelling === 'query') {
                // An empty text is null there, as in a form.
                if (given !== '')
                  invalid(await api.request('GET', address('/specimen/create', { [attribute]: given })), {
                    [attribute]: ['type'],
                  })
                if (subject.isFiltered === false) continue
                refused(await api.request('GET', address('/specimen', { [attribute]: given })), 'E_BAD_CRITERIA', {
                  attribute,
                })
              } else if (subject.isFiltered !== false && (typeof given !== 'object' || given === null)) {
                const where = { [attribute]: { in: [given] } }
                refused(await api.request('GET', address('/specimen', { where })), 'E_BAD_CRITERIA', { attribute })
              }
            }
          }
          await nothingStored(api, 'specimen')
        },
      }) satisfies Scenario,
  ),
  {
    name: 'coercion: numbers outside the range of a double are refused',
    needs: ['bytes'],
    async run(api) {
      const headers = { 'content-type': 'application/json' }
      for (const text of ['{"weight":1e400}', '{"weight":-1e400}', '{"legs":1e400}', '{"legs":9007199254740993}']) {
        assert.equal((await api.request('POST', '/specimen', { text, headers })).status, 400, text)
      }
      refused(
        await api.request('POST', '/specimen', { text: '{"notes":{"a":1e400}}', headers }),
        'E_INVALID_ATTRIBUTES',
      )
      assert.equal(record(await api.request('POST', '/specimen', { text: '{"weight":-0}', headers }), 201).weight, 0)
      const [only] = list(await api.request('GET', '/specimen'))
      assert.ok(Object.is(only?.weight, 0), 'negative zero is stored as zero')
    },
  },
  {
    name: 'coercion: lone surrogates are refused in values, names and conditions',
    needs: ['bytes'],
    async run(api) {
      const headers = { 'content-type': 'application/json' }
      for (const text of [
        '{"label":"a\\ud800"}',
        '{"label":"\\udc00b"}',
        '{"notes":["\\ud800"]}',
        '{"notes":{"\\udfff":1}}',
        '{"label":"\\u0000"}',
      ]) {
        refused(await api.request('POST', '/specimen', { text, headers }), 'E_INVALID_ATTRIBUTES')
      }
      for (const where of ['{"label":"\\ud800"}', '{"label":{"contains":"\\u0000"}}', '{"label":{"in":["\\udc00"]}}']) {
        refused(await api.request('GET', `/specimen?where=${encodeURIComponent(where)}`), 'E_BAD_CRITERIA', {
          attribute: 'label',
        })
      }
      assert.equal(
        record(await api.request('POST', '/specimen', { text: '{"label":"\\ud83e\\udd81"}', headers }), 201).label,
        '🦁',
      )
    },
  },
]
