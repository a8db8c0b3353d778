import type { ServiceRequest, ServiceResponse } from '../../../src/protocol/request.ts'
import { openService } from '../../../src/service/open-service.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'
import { type Any, config, fill } from '../kept-answers/models.ts'

const { models, auth } = config('')
const timeless = { createdAt: false, updatedAt: false } as const

/** Also records that go with the one that they refer to, and a count that a trigger of the database keeps. */
export const selfWritten = {
  auth,
  writers: 'self',
  models: {
    ...models,
    toy: {
      attributes: {
        ...timeless,
        name: { type: 'string' },
        pet: { model: 'pet', onDestroy: 'cascade' },
        parts: { collection: 'part', via: 'toy' },
      },
      access: 'public',
    },
    part: {
      attributes: { ...timeless, name: { type: 'string' }, toy: { model: 'toy', onDestroy: 'cascade' } },
      access: 'public',
    },
    tally: { attributes: { ...timeless, count: { type: 'number', defaultsTo: 0 } }, access: 'public' },
  },
} as Any

export const moreQuestions = ['/toy?limit=9', '/part?populate=toy', '/tally', '/tally/1', '/toy/1'] as const

const tallyTrigger = `
  create function count_cities() returns trigger language plpgsql as
    'begin update tally set count = count + 1 where id = 1; return null; end';
  create trigger count_cities after insert or update on city for each row execute function count_cities();
`

/** A service that says that it is the only writer, and one that keeps nothing. */
export async function openServices(url: string) {
  const database: FreshDatabase = await freshDatabase(url)
  const errors: Error[] = []
  const onError = (error: unknown) => void errors.push(error as Error)
  const shared = { ...selfWritten, database: database.url, onError }
  const keeping = await openService(shared)
  const fresh = await openService({ ...shared, cache: false })
  await fill(keeping)
  const { toy, part, tally } = Object.fromEntries(keeping.records) as Any
  await tally.create({})
  for (let index = 0; index < 4; index++) await toy.create({ name: 'abcd'[index], pet: 1 + index })
  for (let index = 0; index < 4; index++) await part.create({ name: 'abcd'[index], toy: 1 + index })
  await database.query(tallyTrigger)
  return {
    database,
    keeping,
    fresh,
    errors,
    async [Symbol.asyncDispose]() {
      await keeping[Symbol.asyncDispose]()
      await fresh[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

/** A request as a client of the HTTP interface sends it. */
export const requestTo = (
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
): ServiceRequest => ({
  method,
  path,
  query: '',
  headers: { user: '{"city":"all"}', 'content-type': 'application/json' },
  site: 'none',
  ...(body && { body: body as Any }),
})

export const isSuccess = ({ status }: ServiceResponse): boolean => status < 300
