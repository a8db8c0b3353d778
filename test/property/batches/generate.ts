import type { Json, JsonObject } from '../../../src/index.ts'
import type { Random } from '../../support/random.ts'
import type { ItemAnswer } from './subject.ts'

export interface BatchItem {
  readonly method: string
  readonly url: string
  readonly body?: Json
}

const codes = ['a', 'b', 'c', 'd', 'e', 'f']

export function generateBatch(random: Random): readonly BatchItem[] {
  const count = 1 + random.below(7)
  const items: BatchItem[] = []
  for (let index = 0; index < count; index++) items.push(generateItem(random, items))
  return items
}

const address = (path: string, where: JsonObject): string =>
  `${path}?where=${encodeURIComponent(JSON.stringify(where))}`

function generateItem(random: Random, earlier: readonly BatchItem[]): BatchItem {
  const code = (): string => random.pick(codes)
  const places = earlier.flatMap(({ method, url }, index) =>
    (method === 'POST' && /^\/(team|player)(\?|$)/.test(url)) || method === 'PATCH' ? [index] : [],
  )
  /** A key, or a reference to that of a record that an earlier request answers. */
  const key = (): Json => (places.length > 0 && random.chance(0.4) ? { $ref: `${random.pick(places)}.code` } : code())
  const inUrl = (): string => (places.length > 0 && random.chance(0.4) ? `$${random.pick(places)}.code` : code())
  const points = (): number => random.below(12) - 1
  const player = (): JsonObject => ({
    code: code(),
    ...(random.chance(0.6) && { team: key() }),
    ...(random.chance(0.5) && { points: points() }),
    ...(random.chance(0.2) && { captain: key() }),
  })
  const team = (): JsonObject => ({
    code: code(),
    ...(random.chance(0.5) && { name: random.pick(['x', 'y', 'z']) }),
    ...(random.chance(0.3) && { tags: [code()] }),
    ...(random.chance(0.2) && { players: [key()] }),
  })
  const tag = (): BatchItem => ({ method: 'POST', url: '/tag?upsert=code', body: { code: code() } })
  const kinds: readonly (() => BatchItem)[] = [
    () => ({ method: 'POST', url: '/team', body: team() }),
    () => ({ method: 'POST', url: '/player?populate=false', body: player() }),
    () => ({ method: 'POST', url: '/player', body: [player(), player()] }),
    () => ({ method: 'POST', url: '/team?upsert=code', body: team() }),
    () => ({ method: 'POST', url: '/player?upsert=code', body: player() }),
    tag,
    () => ({
      method: 'PATCH',
      url: `/player/${inUrl()}`,
      body: { points: points(), ...(random.chance(0.3) && { team: key() }) },
    }),
    () => ({ method: 'PATCH', url: address('/player', { points: { '<': points() } }), body: { points: points() } }),
    () => ({ method: 'DELETE', url: `/${random.pick(['team', 'player'])}/${inUrl()}` }),
    () => ({ method: 'DELETE', url: address('/player', { points: { '>': points() } }) }),
    () => ({ method: 'DELETE', url: address('/team', { name: random.pick(['x', 'y']) }) }),
    () => ({ method: 'POST', url: `/team/${inUrl()}/players/${code()}` }),
    () => ({ method: 'DELETE', url: `/team/${inUrl()}/players/${code()}` }),
    () => ({ method: 'PUT', url: `/team/${inUrl()}/tags`, body: [code()] }),
    () => ({ method: 'GET', url: '/player?sort=code&populate=false' }),
    () => ({ method: 'GET', url: '/team?sort=code&populate=tags' }),
  ]
  return random.pick(kinds)()
}

/** The request with the values that it refers to, or how it is answered where there is none. */
export function withReferences(item: BatchItem, answers: readonly ItemAnswer[]): BatchItem | ItemAnswer {
  let refusal: ItemAnswer | undefined
  const named = (text: string): Json => {
    const [index, name] = text.split('.') as [string, string]
    const answer = answers[Number(index)] as ItemAnswer
    const value = (answer.body as JsonObject)[name]
    if (answer.status >= 400) refusal ??= { status: 424, body: { code: 'E_NOT_EXECUTED' } }
    else if (value === undefined) refusal ??= { status: 400, body: { code: 'E_BAD_REQUEST' } }
    return value ?? null
  }
  const resolve = (value: Json): Json => {
    if (Array.isArray(value)) return value.map((one: Json) => resolve(one))
    if (typeof value !== 'object' || value === null) return value
    const { $ref: reference } = value as JsonObject
    if (typeof reference === 'string') return named(reference)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolve(one as Json)]))
  }
  const url = item.url.replace(/\$(\d+\.code)/g, (_, text: string) => String(named(text)))
  const resolved = { ...item, url, ...(item.body !== undefined && { body: resolve(item.body) }) }
  return refusal ?? resolved
}
