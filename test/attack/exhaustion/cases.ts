import type { Json } from '../../../src/protocol/json.ts'

const nested = (word: 'or' | 'not', levels: number): string =>
  word === 'not'
    ? `${'{"not":'.repeat(levels)}{}${'}'.repeat(levels)}`
    : `${'{"or":['.repeat(levels)}{}${']}'.repeat(levels)}`
/** Each level contains the next one three times. */
const tripled = (levels: number): Json =>
  levels === 0 ? { name: 'a' } : { or: Array.from({ length: 3 }, () => tripled(levels - 1)) }
const populateChain = (levels: number): Json =>
  levels === 0 ? {} : { owner: { populate: { pets: { populate: populateChain(levels - 1) } } } }
const query = (parameters: Readonly<Record<string, Json>>): string =>
  new URLSearchParams(
    Object.entries(parameters).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ).toString()

const empty = (count: number): Json[] => Array.from({ length: count }, () => ({}))

export interface Case {
  readonly name: string
  readonly url: string
  readonly json?: Json
  readonly status: number
  readonly limit?: string
}

const refused = (name: string, url: string, limit: string, json?: Json): Case => ({
  name,
  url,
  status: 400,
  limit,
  ...(json !== undefined && { json }),
})

export const cases: readonly Case[] = [
  // Deep and exponential conditions.
  refused('10 levels of or', `/pet?${query({ where: nested('or', 10) })}`, 'maxDepth'),
  refused('300 levels of not', `/pet?${query({ where: nested('not', 300) })}`, 'maxDepth'),
  refused('100,000 levels of not, as text in a body', '/pet', 'maxJsonDepth', { where: nested('not', 100_000) }),
  refused('50,000 levels of or, as text in a body', '/pet', 'maxJsonDepth', { where: nested('or', 50_000) }),
  refused('a condition that triples at each of 6 levels', '/pet', 'maxConditionCost', { where: tripled(6) }),
  refused('700 empty conditions', '/pet', 'maxConditionCost', {
    where: { or: Array.from({ length: 700 }, () => ({})) },
  }),
  refused('90 conditions through an association', '/user', 'maxConditionCost', {
    where: { or: Array.from({ length: 90 }, () => ({ pets: { name: 'a' } })) },
  }),
  refused('99 patterns', '/pet', 'maxConditionCost', {
    where: { or: Array.from({ length: 99 }, (_, index) => ({ name: { like: `%${'a%'.repeat(index)}` } })) },
  }),
  refused('a pattern of 100,000 wildcards', '/pet', 'maxPatternLength', {
    where: { name: { like: '%_'.repeat(50_000) } },
  }),
  refused('a list of 100,000 values', '/pet', 'maxListItems', {
    where: { id: { in: Array.from({ length: 100_000 }, (_, index) => index) } },
  }),
  refused('50 lists of 500 values', '/pet', 'maxConditionCost', {
    where: { or: Array.from({ length: 50 }, () => ({ id: Array.from({ length: 500 }, (_, id) => id) })) },
  }),
  // What has a cost of its own adds to the cost of the condition: a combination of 294 is within the limit.
  refused('a condition and populated associations', '/pet', 'maxConditionCost', {
    where: { or: empty(294) },
    populate: { owner: {}, toys: {} },
  }),
  refused('a condition and one of a populated association', '/pet', 'maxConditionCost', {
    where: { or: empty(200) },
    populate: { owner: { where: { or: empty(200) } } },
  }),
  refused('a condition and a sort order', '/pet', 'maxConditionCost', {
    where: { or: empty(294) },
    sort: 'name,owner.name',
  }),
  {
    name: 'a condition within the limit',
    url: `/pet?${query({ where: { or: empty(294) }, populate: 'false' })}`,
    status: 200,
  },
  refused('9 sort attributes', '/user', 'maxSortKeys', {
    sort: ['id', 'name', 'age', 'createdAt', 'updatedAt', 'name', 'id', 'age', 'name'],
  }),
  // Pages.
  refused('a limit of 1e9', '/pet?limit=1000000000', 'maxLimit'),
  refused('a skip of 1e12', '/pet?skip=1000000000000', 'maxSkip'),
  ...['limit=-1', 'limit=1.5', 'limit=NaN', 'limit=Infinity', 'limit=1e309', 'skip=-1', 'limit[]=1&limit[]=2'].map(
    (text): Case => ({ name: text, url: `/pet?${text}`, status: 400 }),
  ),
  // Parameters.
  refused('5,000 parameters', `/pet?${'a&'.repeat(5_000)}`, 'maxParameters'),
  refused('an index of 1e9 in brackets', '/pet?where[or][1000000000][name]=a', 'maxParameters'),
  refused('1,000 levels of brackets', `/pet?where${'[a]'.repeat(1_000)}=1`, 'maxParameterDepth'),
  { name: 'an address of 16,000 bytes', url: `/pet?name=${'a'.repeat(15_990)}`, status: 200 },
  // Populate.
  refused('a cycle of populated associations', '/pet', 'maxPopulateDepth', { populate: populateChain(4) }),
  // The limit counts records that are found, and here are few.
  {
    name: '1,000 records with 1,000 each',
    url: `/user?${query({ limit: '1000', populate: { pets: { limit: 1_000 } } })}`,
    status: 200,
  },
  { name: 'an association named 1,000 times', url: `/pet?populate=${'owner,'.repeat(999)}owner`, status: 200 },
  {
    name: 'an association named 1,001 times',
    url: `/pet?populate=${'owner,'.repeat(1_000)}owner`,
    status: 400,
    limit: 'maxParameters',
  },
  {
    name: 'sort attributes by the thousand',
    url: `/pet?sort=${'name,'.repeat(2_000)}name`,
    status: 400,
    limit: 'maxSortKeys',
  },
  // Patterns with catastrophic backtracking, where a parser might use one.
  { name: 'a callback of many members', url: `/pet?callback=${'a.'.repeat(7_000)}`, status: 400 },
  { name: 'a date of many digits', url: `/pet?createdAt=${'1'.repeat(15_000)}-`, status: 400 },
  { name: 'a number of many digits', url: `/user?age=${'1'.repeat(15_000)}x`, status: 400 },
  { name: 'a key of many digits', url: `/user/${'1'.repeat(15_000)}x`, status: 404 },
]

export const headerCases: readonly (readonly [name: string, header: string, value: string])[] = [
  ['entity tags', 'If-None-Match', '"a",'.repeat(3_500)],
  ['an open entity tag', 'If-None-Match', `"${'a'.repeat(14_000)}`],
  ['media types', 'Accept', 'text/html;q=0.1,'.repeat(900)],
  ['parameters of a media type', 'Accept', `text/event-stream${';a=b'.repeat(3_000)}x`],
  ['blanks', 'Accept', `a${' '.repeat(14_000)}/`],
  ['cookies', 'Cookie', 'a=b; '.repeat(2_800)],
  ['an origin', 'Origin', `http://${'a.'.repeat(7_000)}`],
  ['a referrer', 'Referer', `http://${'a@'.repeat(7_000)}`],
]

const many = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, i) => text(i)).join('')
const part = (index: number) => `--b\r\nContent-Disposition: form-data; name="a${index}"\r\n\r\n1\r\n`
/** Nearly as long as a body may be. */
export const bodyCases: readonly (readonly [name: string, type: string, body: string, limit: string])[] = [
  ['JSON of 90,000 names', 'application/json', `{${many(90_000, (i) => `"a${i}":1,`)}"b":1}`, 'maxJsonNames'],
  [
    'JSON of 600 records of 100 new names each',
    'application/json',
    `[${many(600, (i) => `{${many(100, (k) => `"${i}.${k}":1,`)}"b":1},`)}{}]`,
    'maxJsonNames',
  ],
  ['JSON of 90,000 names, as text', 'text/plain', `{${many(90_000, (i) => `"a${i}":1,`)}"b":1}`, 'maxJsonNames'],
  ['JSON of 160,000 values', 'application/json', `{"a":[${many(160_000, () => '1,')}1]}`, 'maxJsonValues'],
  ['JSON of 300,000 empty objects', 'application/json', `[${'{},'.repeat(300_000)}{}]`, 'maxJsonValues'],
  [
    'JSON of 16,000 lists of 30 levels',
    'application/json',
    `[${`${'['.repeat(30)}${']'.repeat(30)},`.repeat(16_000)}1]`,
    'maxJsonValues',
  ],
  ['JSON of 500,000 levels', 'application/json', '['.repeat(500_000) + ']'.repeat(500_000), 'maxJsonDepth'],
  ['XML of 20,000 attributes', 'application/xml', `<v ${many(20_000, (i) => `a${i}="1" `)}/>`, 'maxParameters'],
  ['XML of 20,000 elements', 'application/xml', `<v>${'<a>1</a>'.repeat(20_000)}</v>`, 'maxParameters'],
  ['XML of 80,000 entities', 'application/xml', `<v><name>${'&#233;'.repeat(80_000)}</name></v>`, 'maxXmlBytes'],
  ['XML of 100 levels', 'application/xml', `${'<a>'.repeat(100)}${'</a>'.repeat(100)}`, 'maxJsonDepth'],
  ['JSON of 2 MB', 'application/json', `{"name":"${'a'.repeat(2_000_000)}"}`, 'maxBodyBytes'],
  ['a form of 80,000 values', 'application/x-www-form-urlencoded', many(80_000, (i) => `a${i}=%41&`), 'maxParameters'],
  ['10,000 parts', 'multipart/form-data; boundary=b', `${many(10_000, part)}--b--\r\n`, 'maxParameters'],
]
