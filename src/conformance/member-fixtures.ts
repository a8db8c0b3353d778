import type { JsonObject } from '../protocol/json.ts'
import { column, create, record } from './expect.ts'
import type { Answer, Api } from './scenario.ts'

/** The records that scenarios about members use, by name. */
export async function createFixtures(api: Api) {
  const make = async (model: string, values: JsonObject) => (await create(api, model, values)).id as number
  return {
    ann: await make('keeper', { name: 'Ann' }),
    bob: await make('keeper', { name: 'Bob' }),
    leo: await make('animal', { name: 'Leo' }),
    tom: await make('animal', { name: 'Tom' }),
    night: await make('team', { title: 'Night' }),
    day: await make('team', { title: 'Day' }),
  }
}

/** The ids of an association that an answer embeds. */
export const embedded = (answer: Answer, name: string) =>
  (record(answer)[name] as readonly JsonObject[]).map((member) => member.id)

/** The ids that a list of members contains. */
export const members = async (api: Api, path: string) =>
  column(await api.request('GET', `${path}?populate=false`), 'id')
