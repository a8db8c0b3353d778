import type { HostileRequest } from './hostile/hostile.ts'

const find = (where: unknown): HostileRequest => ({
  method: 'GET',
  path: `/pet?limit=1&populate=false&where=${encodeURIComponent(JSON.stringify(where))}`,
})
const nested = (depth: number, inner: unknown): unknown =>
  depth === 0 ? inner : { and: [nested(depth - 1, inner), { age: depth }] }

/**
 * Requests that cost little and leave as much behind as a client can make: names, addresses, callbacks and conditions that
 * are always new, and bodies that are refused at every stage.
 */
const kinds: readonly ((n: number) => HostileRequest)[] = [
  (n) => ({ method: 'GET', path: `/pet?unknown${n}=1` }),
  (n) => ({ method: 'GET', path: `/nothing${n}/at/all` }),
  (n) => ({ method: 'GET', path: `/pet/${n}x` }),
  (n) => ({ method: 'GET', path: `/pet/${-n}?populate=false` }),
  (n) => ({ method: 'GET', path: `/pet?callback=f${n}&limit=1&populate=false` }),
  (n) => ({ method: 'GET', path: `/pet?sort=name%20DESC${n}` }),
  (n) => ({ method: 'GET', path: `/pet?cursor=${Buffer.from(`cursor ${n}`).toString('base64url')}` }),
  (n) => ({ method: 'GET', path: `/pet?where=${encodeURIComponent(`{"name":${n}`)}` }),
  (n) => ({ method: 'GET', path: `/pet?limit=1&populate=${encodeURIComponent(`{"visits":{"limit":${n}}}`)}` }),
  (n) => find({ id: n, name: { startsWith: `a${n}` } }),
  (n) => find({ id: [n, n + 1, n + 2], age: { '<': n } }),
  (n) => find(nested(3 + (n % 40), { name: `x${n}` })),
  (n) => find({ [`__proto__${n}`]: { constructor: n } }),
  (n) => find({ name: 'x'.repeat(n % 4000) }),
  (n) => ({ method: 'POST', path: '/pet', body: { [`unknown${n}`]: 'y'.repeat(n % 2000) } }),
  (n) => ({ method: 'POST', path: '/pet', body: { name: n, age: `z${n}`, owner: -n } }),
  (n) => ({ method: 'PATCH', path: `/pet/${1_000_000 + n}`, body: { name: `n${n}` } }),
  (n) => ({ method: 'PUT', path: `/pet/1/visits/${n}x` }),
  (n) => ({ method: 'POST', path: `/pet?${'a'.repeat(n % 900)}=1`, body: nested(30 + (n % 60), n) }),
  (n) => ({ method: 'DELETE', path: `/visit/${2_000_000 + n}` }),
  (n) => ({ method: `GET`, path: `/%ff${n}%00` }),
]

export const malformed = (n: number): HostileRequest =>
  (kinds[n % kinds.length] as (n: number) => HostileRequest)(Math.floor(n / kinds.length))
