import { EncodedJson } from '../../../src/protocol/json.ts'
import type { ServiceRequest } from '../../../src/protocol/request.ts'
import type { OpenService } from '../../../src/service/open-service.ts'

// biome-ignore lint/suspicious/noExplicitAny: no types of records are needed
export type Any = any

const timeless = { createdAt: false, updatedAt: false } as const
const models = {
  city: { attributes: { ...timeless, name: { type: 'string' } } },
  owner: {
    attributes: {
      ...timeless,
      name: { type: 'string' },
      city: { model: 'city' },
      pets: { collection: 'pet', via: 'owner' },
      likes: { collection: 'pet', via: 'fans' },
    },
    access: {
      read: ({ user: { city } }: Any) => city === 'all' || { city: { name: city } },
      create: true,
      update: true,
      destroy: true,
    },
  },
  pet: {
    attributes: {
      ...timeless,
      name: { type: 'string' },
      age: { type: 'number', access: { read: ({ user: { age } }: Any) => (age ? { age: { '<': age } } : true) } },
      owner: { model: 'owner' },
      fans: { collection: 'owner', via: 'likes' },
      visits: { collection: 'visit', via: 'pet' },
      toys: { collection: 'toy', via: 'pet' },
    },
    access: 'public',
  },
  /** Texts of their lists are kept: nothing of them is computed, masked or referred to. */
  toy: { attributes: { ...timeless, name: { type: 'string' }, pet: { model: 'pet' } }, access: 'public' },
  visit: {
    attributes: {
      ...timeless,
      note: { type: 'string' },
      pet: { model: 'pet' },
      short: { type: 'string', computed: ['note'], get: (visit: Any) => visit.note[0] },
    },
    access: 'public',
  },
  /** Here a record may be replaced by one with another key. */
  chip: { attributes: { ...timeless, code: { type: 'string', unique: true } }, access: 'public' },
  /** Marks moments in the log. No question is about it. */
  mark: { attributes: { ...timeless, name: { type: 'string' } }, access: 'public' },
} as const

/** Models whose events are compared. */
export const followed = ['city', 'owner', 'pet', 'visit'] as const

/** Of what is asked for again and again: lists, records, and the records of an association. */
export const questions = [
  '/city?limit=5',
  '/owner',
  '/pet',
  '/pet?populate=false',
  '/pet?populate=false&count=true&limit=2',
  '/pet?populate=false&select=name',
  '/pet?populate=false&sort=name DESC&limit=3&skip=1',
  '/pet?populate=owner&sort=name',
  '/pet?populate={"owner":{"populate":{"city":{}}}}',
  '/pet?populate={"fans":{"where":{"city":{"name":"b"}}}}',
  '/pet?populate=false&sort=owner.name',
  '/pet?populate=false&where={"owner":{"city":{"name":"a"}}}',
  '/pet?populate=false&where={"fans":{"name":{"!=":"x"}}}',
  '/pet?populate=false&where={"age":{">":2}}',
  '/owner?where={"pets":{"visits":{"note":"a"}}}&populate=false',
  '/visit?limit=9',
  '/toy?limit=9',
  '/toy?populate={"pet":{"select":["name"]}}&sort=name',
  '/pet?populate={"toys":{"limit":1}}',
  '/pet?populate={"toys":{"select":["name"]},"visits":{"select":["note","pet"],"limit":2}}',
  '/city/1',
  '/chip/1',
  '/chip/2',
  '/chip/3',
  '/owner/2',
  '/pet/3',
  '/pet/3?populate=owner',
  '/pet/4?select=name,age&populate=false',
  '/owner/1/pets',
  '/pet/2/owner',
]
/** Users whose rules differ in their structure, or in their values only. */
export const users = [
  { city: 'all' },
  { city: 'a' },
  { city: 'b' },
  { city: 'all', age: 3 },
  { city: 'all', age: 4 },
] as const
export type User = (typeof users)[number]

export const config = (path: string) => ({
  models: models as Any,
  database: `sqlite:${path}`,
  auth: { identify: ({ headers }: Any) => ({ id: 1, ...JSON.parse(headers.user) }) },
})

export const requestOf = (question: string, user: User, tag?: string): ServiceRequest => {
  const [path = '', query = ''] = question.split('?')
  const headers = { user: JSON.stringify(user), ...(tag !== undefined && { 'if-none-match': tag }) }
  return { method: 'GET', path, query: query.replaceAll('"', '%22'), headers, site: 'none' }
}

let asked = 0

/** At an address that was never asked for, so that no whole answer is given again. */
export const requestAnew: typeof requestOf = (question, user, tag) =>
  requestOf(`${question}${question.includes('?') ? '&' : '?'}_=${++asked}`, user, tag)

/** What of an answer must not depend on what is kept. */
export interface Told {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export async function told(service: OpenService, request: ServiceRequest): Promise<Told> {
  const { status, headers, body } = await service.handle(request)
  const { 'Keelson-Position': _, ...shown } = headers
  return { status, headers: shown, text: body instanceof EncodedJson ? body.encoded : JSON.stringify(body ?? null) }
}

export async function fill({ records }: OpenService): Promise<void> {
  const { city, owner, pet, visit, toy, mark } = Object.fromEntries(records) as Any
  await mark.create({ name: 'begin' })
  for (const name of ['a', 'b', 'c']) await city.create({ name })
  for (let index = 0; index < 4; index++) await owner.create({ name: 'abcd'[index], city: 1 + (index % 3) })
  for (let index = 0; index < 6; index++)
    await pet.create({ name: 'abc'[index % 3], age: index, owner: 1 + (index % 4), fans: [1 + (index % 3)] })
  for (let index = 0; index < 6; index++) await toy.create({ name: 'abc'[index % 3], pet: 1 + (index % 3) })
  for (let index = 0; index < 6; index++) await visit.create({ note: 'ab'[index % 2], pet: 1 + index })
}
