import type { Random } from '../support/random.ts'

/** A request composed of parts that are known to break similar servers. */
export interface HostileRequest {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

const methods = ['GET', 'GET', 'GET', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']
const segments = [
  'pet',
  'owner',
  'tag',
  'PET',
  'pets',
  'owners',
  'find',
  'create',
  'update',
  'destroy',
  'add',
  'remove',
  'replace',
  '1',
  '2',
  '3',
  '0',
  '-1',
  '1.5',
  '01',
  '1e3',
  '99999999999999999999',
  'abc',
  'null',
  '__proto__',
  'constructor',
  'toString',
  '%00',
  '%',
  '%zz',
  '%2e%2e',
  '..',
  '',
  '%2F',
  'é',
  '%F0%9F%A6%8A',
  '%ED%A0%80',
  "1'--",
  'x'.repeat(300),
]
const names = [
  'name',
  'kind',
  'age',
  'born',
  'extra',
  'owner',
  'pets',
  'tags',
  'likes',
  'id',
  'createdAt',
  'where',
  'limit',
  'skip',
  'sort',
  'select',
  'omit',
  'populate',
  'count',
  'cursor',
  'callback',
  '_',
  'nosuch',
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'or',
  'and',
  'not',
  'name[contains]',
  'age[>]',
  'age[<][x]',
  'where[or][0][name]',
  'extra[a][b][c]',
  'tags[]',
  'tags[99999]',
  'a[b',
  ']',
  'owner.name',
  'name"; drop table pet; --',
  '',
]
const texts = [
  '',
  '1',
  '-1',
  '0',
  '1e309',
  'NaN',
  'Infinity',
  '0x10',
  ' 1',
  '9007199254740993',
  'true',
  'null',
  'undefined',
  'Rex',
  'dog',
  '%',
  '_',
  '\\',
  '*',
  '[',
  "'",
  '"',
  '`',
  ';',
  '\u0000',
  '\ud800',
  '🦊',
  'é',
  '\u2028',
  'name DESC',
  'name desc, age',
  '-name',
  'owner.name',
  'pets',
  'false',
  'a,b',
  '2021-02-30',
  '2021-05-04T10:00:00+02:00',
  '0000-00-00',
  'alert(1)',
  'f',
  'f.g[0]',
  '[1,2]',
  '{}',
  '[',
  '{"name":',
  'x'.repeat(2000),
  'WzFd.AAAAAAAAAAAAAAAAAAAAAA',
]
const modifiers = [
  '<',
  '<=',
  '>',
  '>=',
  '!=',
  '!',
  'not',
  'in',
  'nin',
  'contains',
  'startsWith',
  'endsWith',
  'like',
  'lessThan',
  'gt',
  'regex',
  '$where',
  '__proto__',
]

export function json(random: Random, depth = 0): unknown {
  const kind = random.below(depth > 4 ? 6 : 9)
  if (kind < 3) return random.pick(texts)
  if (kind === 3) return random.pick([0, 1, -1, 1.5, 1e300, -0, 2 ** 53 + 2, 3])
  if (kind === 4) return random.pick([true, false, null])
  if (kind === 5) return []
  if (kind === 6) return Array.from({ length: random.below(4) }, () => json(random, depth + 1))
  if (kind === 7 && random.chance(0.05)) return nested(random.pick([20, 100, 500]), random.pick(['or', 'not', 'a']))
  const keys = Array.from({ length: random.below(4) }, () => random.pick(random.chance(0.5) ? names : modifiers))
  return Object.fromEntries(keys.map((key) => [key, json(random, depth + 1)]))
}

function nested(levels: number, name: string): unknown {
  let value: unknown = { name: 'Rex' }
  for (let level = 0; level < levels; level++) value = name === 'or' ? { or: [value] } : { [name]: value }
  return value
}

const query = (random: Random): string => {
  const pairs = Array.from({ length: random.below(5) }, () => {
    const value = random.chance(0.3) ? JSON.stringify(json(random)) : random.pick(texts)
    const raw = `${random.pick(names)}=${value}`
    return random.chance(0.8) ? safely(raw) : raw.replace(/[^\x21-\x7e]/g, '%')
  })
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

function safely(pair: string): string {
  const at = pair.indexOf('=')
  const encode = (text: string) => encodeURIComponent(text.toWellFormed())
  return `${encode(pair.slice(0, at))}=${encode(pair.slice(at + 1))}`
}

const record = (random: Random): unknown => {
  const [name, age] = [
    random.pick<unknown>(['Rex', 'Tom', random.pick(texts)]),
    random.pick<unknown>([1, '2', random.pick(texts), null]),
  ]
  const [owner, tags] = [
    random.pick<unknown>([1, '1', null, 99, { id: 1 }]),
    random.pick<unknown>([[1], [], 1, [{ id: 1 }], ['x']]),
  ]
  return {
    name,
    age,
    ...(random.chance(0.4) && { owner }),
    ...(random.chance(0.3) && { tags }),
    ...(random.chance(0.2) && { extra: json(random) }),
    ...(random.chance(0.2) && { label: name }),
  }
}

const bodies: readonly ((random: Random) => readonly [type: string | undefined, body: string | Uint8Array])[] = [
  (random) => ['application/json', JSON.stringify(json(random))],
  (random) => ['application/json', JSON.stringify(record(random))],
  (random) => ['application/json', JSON.stringify({ id: 1 + random.below(5) })],
  (random) => ['application/json', JSON.stringify({ label: `t${random.below(1000)}`, name: 'Rex' })],
  (random) => ['application/json', JSON.stringify([1, 2].slice(random.below(3)))],
  (random) => ['application/x-www-form-urlencoded', likely(random).slice(1)],
  (random) => [
    random.pick([
      'application/vnd.api+json',
      'application/json; charset=utf-8',
      'APPLICATION/JSON',
      'text/json',
      undefined,
    ]),
    JSON.stringify(json(random)),
  ],
  (random) => ['application/json', JSON.stringify(json(random)).slice(0, random.below(20))],
  (random) => ['application/x-www-form-urlencoded', query(random).slice(1)],
  (random) => [
    'application/xml',
    `<x>${random.pick(names)}<${random.pick(['name', 'a', '!DOCTYPE', '__proto__'])}>${random.pick(texts)}</name></x>`,
  ],
  (random) => [
    'multipart/form-data; boundary=b',
    `--b\r\nContent-Disposition: form-data; name="${random.pick(names)}"\r\n\r\n${random.pick(texts)}\r\n--b--`,
  ],
  (random) => [
    random.pick(['text/plain', 'image/png', 'application/json, text/plain', 'a', 'application/json; charset=latin1']),
    random.pick(texts),
  ],
  (random) => ['application/json', Uint8Array.from({ length: 12 }, () => random.below(256))],
]

/** Paths of existing routes. */
const places = [
  '/pet',
  '/owner',
  '/tag',
  '/pet/1',
  '/owner/1',
  '/tag/2',
  '/owner/1/pets',
  '/owner/1/likes',
  '/pet/1/tags',
  '/pet/1/owner',
  '/pet/1/tags/1',
  '/owner/1/pets/2',
  '/owner/1/likes/3',
  '/pet/find',
  '/pet/create',
  '/pet/update/1',
  '/pet/destroy/3',
  '/owner/1/pets/add/1',
  '/owner/1/likes/remove/1',
  '/pet/1/tags/replace',
  '/Pet/2/',
  '/owner/2/pets/add',
  '/',
]

const wander = (random: Random): string => {
  const parts = Array.from({ length: 1 + random.below(5) }, () => random.pick(segments))
  return `/${parts.join('/')}`
}

/** Well-formed parameters whose values may be invalid. */
function likely(random: Random): string {
  const pairs = [
    () => `where=${encodeURIComponent(JSON.stringify(condition(random)).toWellFormed())}`,
    () =>
      `limit=${random.pick(['1', '2', '0', '1000', '1001', random.pick(texts).toWellFormed().replace(/[^\w]/g, '')])}`,
    () =>
      `sort=${encodeURIComponent(random.pick(['name', 'age DESC', 'owner.name', 'born,name DESC', '[{"age":"DESC"}]', '{"name":-1}']))}`,
    () => `select=${random.pick(['name', 'id', 'name,owner', 'extra'])}`,
    () =>
      `populate=${encodeURIComponent(random.pick(['false', 'pets', 'owner', 'tags,owner', '{"pets":{"limit":1,"sort":"name"}}', '{"owner":{"populate":{"pets":{"populate":["tags"]}}}}']))}`,
    () => 'count=true',
    () => `callback=${random.pick(['f', 'a.b', 'x[0]'])}`,
    () => safely(`${random.pick(['name', 'kind', 'age', 'owner', 'label', 'born'])}=${random.pick(texts)}`),
  ]
  return `?${Array.from({ length: 1 + random.below(3) }, () => random.pick(pairs)()).join('&')}`
}

function condition(random: Random, depth = 0): unknown {
  if (depth < 4 && random.chance(0.3)) {
    const word = random.pick(['and', 'or', 'not', 'owner', 'pets', 'tags', 'likes'])
    if (word === 'and' || word === 'or')
      return { [word]: Array.from({ length: random.below(4) }, () => condition(random, depth + 1)) }
    return { [word]: condition(random, depth + 1) }
  }
  const name = random.pick(['name', 'kind', 'age', 'born', 'owner', 'id', 'label', 'extra', 'createdAt'])
  const operand = random.chance(0.3)
    ? json(random)
    : random.pick<unknown>([1, 'Rex', null, true, ['a', 'b'], [1, 2], '2021-05-04'])
  return { [name]: random.chance(0.5) ? operand : { [random.pick(modifiers)]: operand } }
}

export function hostileRequest(random: Random): HostileRequest {
  const method = random.pick(methods)
  const path = random.chance(0.7) ? random.pick(places) : wander(random)
  const headers: Record<string, string> = {}
  if (random.chance(0.1))
    headers['If-Match'] = random.pick(['*', '"x"', 'W/"a-b"', '"AAAAAAAAAAAAAAAAAAAAAA-AAAAAAAAAAAAAAAAAAAAAA"', ','])
  if (random.chance(0.1)) headers['If-None-Match'] = random.pick(['*', '"x"', '"a", "b"'])
  if (random.chance(0.05)) headers['Sec-Fetch-Site'] = random.pick(['cross-site', 'same-origin', 'nonsense'])
  if (random.chance(0.05)) headers.Accept = random.pick(['text/html', '*/*', 'application/xml'])
  const target = `${path}${random.chance(0.5) ? likely(random) : query(random)}`
  if (['GET', 'HEAD', 'OPTIONS'].includes(method) || random.chance(0.15)) return { method, target, headers }
  const [type, body] = random.pick(bodies)(random)
  return { method, target, headers: type === undefined ? headers : { ...headers, 'Content-Type': type }, body }
}
