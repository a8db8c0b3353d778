import assert from 'node:assert/strict'
import { type Change, createService, type JsonObject, type RecordId } from '../../../src/index.ts'
import { settings } from './settings.ts'
import type { HeldPet, Holdings } from './writer.ts'

/** The content of a database, read while there are no writes. */
export interface Stored {
  readonly owners: readonly JsonObject[]
  readonly pets: readonly JsonObject[]
  /** Pairs of pet and tag, as `pet tag`. */
  readonly pairs: ReadonlySet<string>
  /** From the beginning. */
  readonly changes: readonly Change[]
}

export async function readStored(database: string): Promise<Stored> {
  await using service = await createService({ ...settings, database })
  const get = async (path: string): Promise<JsonObject[]> => {
    const response = await service.fetch(new Request(`http://localhost${path}`))
    assert.equal(response.status, 200, path)
    return (await response.json()) as JsonObject[]
  }
  const owners = await get('/owner?limit=100000&populate=false')
  const pets = await get('/pet?limit=100000&populate=false')
  const tagged = await get('/pet?limit=100000&populate=tags&select=id')
  const pairs = new Set(tagged.flatMap(({ id, tags }) => (tags as JsonObject[]).map((tag) => `${id} ${tag.id}`)))
  const changes: Change[] = []
  for (let position = await service.changes.tail(); ; ) {
    const batch = await service.changes.read(position, 1000)
    assert.ok(batch !== 'reset', 'the log begins where it says')
    if (batch.changes.length === 0) return { owners, pets, pairs, changes }
    changes.push(...batch.changes)
    position = batch.position
  }
}

/** What the records of one writer are. */
export function holdingsIn({ owners, pets, pairs }: Stored, writer: string): Holdings {
  const own = (record: JsonObject) => String(record.mark).startsWith(`${writer}-`)
  const marks = new Map(owners.map(({ id, mark }) => [id as RecordId, mark as string]))
  const held = ({ id, counted, owner }: JsonObject): HeldPet => ({
    id: id as RecordId,
    counted: counted as number,
    owner: owner === null ? null : (marks.get(owner as RecordId) ?? `unknown (${owner})`),
    tags: [...pairs].filter((pair) => pair.startsWith(`${id} `)).length,
  })
  return {
    owners: new Map(owners.filter(own).map(({ id, mark }) => [mark as string, id as RecordId])),
    pets: new Map(pets.filter(own).map((pet) => [pet.mark as string, held(pet)])),
  }
}

/** Does again what the log says was done, and must end at what the tables hold. */
export function replay({ owners, pets, pairs, changes }: Stored): void {
  const tables = new Map<string, Map<string, JsonObject>>()
  const ids = new Map<string, unknown>()
  for (const { model, verb, id, before, after } of changes) {
    const table = tables.get(model) ?? new Map<string, JsonObject>()
    tables.set(model, table)
    const key = [id].flat().join(' ')
    assert.deepEqual(table.get(key), before, `${model} ${key} ${verb}: the image before it is what was there`)
    if (after) table.set(key, after)
    else table.delete(key)
    if (verb === 'created' && after?.mark !== undefined) {
      assert.ok(!ids.has(`${model} ${key}`), `the id ${key} of a ${model} is given once`)
      ids.set(`${model} ${key}`, after.mark)
    }
  }
  const rows = (model: string): JsonObject[] =>
    [...(tables.get(model)?.values() ?? [])].sort((a, b) => Number(a.id) - Number(b.id))
  assert.deepEqual(rows('owner'), owners)
  assert.deepEqual(rows('pet'), pets)
  const junction = [...(tables.get('pet_tags__tag_pets')?.values() ?? [])]
  assert.deepEqual(new Set(junction.map(({ pet_tags, tag_pets }) => `${pet_tags} ${tag_pets}`)), pairs)
}
