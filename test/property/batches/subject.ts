import assert from 'node:assert/strict'
import type { Json, JsonObject, Position, Service } from '../../../src/index.ts'
import type { BatchItem } from './generate.ts'
import { modelNames } from './models.ts'

export interface ItemAnswer {
  readonly status: number
  readonly body?: Json
}

export async function send(service: Service, { method, url, body }: BatchItem): Promise<ItemAnswer> {
  const response = await service.fetch(
    new Request(`http://localhost${url}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  )
  const text = await response.text()
  return { status: response.status, ...(text !== '' && { body: JSON.parse(text) }) }
}

/** All records, with their memberships. */
export async function stateOf(service: Service): Promise<JsonObject> {
  const state: Record<string, Json> = {}
  for (const model of modelNames) {
    const populate = model === 'tag' ? 'teams' : 'false'
    const { body } = await send(service, { method: 'GET', url: `/${model}?sort=code&limit=1000&populate=${populate}` })
    state[model] = body as Json
  }
  return state
}

/** Makes the records of the service those of an earlier state. */
export async function restore(service: Service, state: JsonObject): Promise<void> {
  const records = service.system.records as unknown as Readonly<
    Record<string, { destroyMany(options: object): Promise<unknown>; createMany(list: unknown): Promise<unknown> }>
  >
  const all = { where: { code: { '!=': null } } }
  for (const model of ['player', 'team', 'tag']) await records[model]?.destroyMany(all)
  await records.team?.createMany(state.team)
  const players = state.player as readonly JsonObject[]
  await records.player?.createMany(players.map((player) => ({ ...player, captain: null })))
  for (const { code, captain } of players)
    if (captain !== null)
      await send(service, { method: 'PATCH', url: `/player/${code}`, body: { captain: captain as Json } })
  await records.tag?.createMany(
    (state.tag as readonly JsonObject[]).map(({ code, teams }) => ({
      code,
      teams: (teams as readonly JsonObject[]).map((team) => team.code),
    })),
  )
  assert.deepEqual(await stateOf(service), state)
}

/** The changes after a position as texts, and the number of operations that they belong to. */
export async function changesSince(
  service: Service,
  after: Position,
): Promise<{ readonly changes: readonly string[]; readonly operations: number }> {
  const batch = await service.changes.read(after, 10_000)
  assert.ok(batch !== 'reset')
  // A database may clear references among records that it destroys together: their last states differ, not their events.
  const destroyed = new Set(
    batch.changes.flatMap(({ model, verb, id }) => (verb === 'destroyed' ? [`${model} ${id}`] : [])),
  )
  const changes = batch.changes
    .filter(({ model, verb, id }) => verb !== 'updated' || !destroyed.has(`${model} ${id}`))
    .map(({ model, verb, id, before, after }) =>
      JSON.stringify([model, verb, id, verb === 'destroyed' ? null : sorted(before), sorted(after)]),
    )
  return { changes, operations: new Set(batch.changes.map(({ operation }) => operation)).size }
}

const sorted = (image: JsonObject | undefined): Json =>
  image === undefined ? null : (Object.entries(image).sort(([a], [b]) => (a < b ? -1 : 1)) as unknown as Json)
