import type { JsonObject } from '../../../src/protocol/json.ts'
import { byId, fenceId, heavy, type ModelName, modelNames, pairs, type Truth } from './models.ts'

export type Sql = readonly [text: string, values?: readonly (string | number | null)[]]

/** The first record of each model; that of pets is as heavy as every condition wants. */
export const first: readonly Sql[] = [
  [`insert into owner (id, mark) values (${fenceId}, 'fence 0')`],
  [`insert into pet (id, mark, weight) values (${fenceId}, 'fence 0', ${heavy})`],
  [`insert into tag (id, mark) values (${fenceId}, 'fence 0')`],
]
/** Marks a moment in each table. */
export const fenced = modelNames.map((model) => `update ${model} set mark = ? where id = ${fenceId}`)

/** Everything, as rows that are arrays. */
export const selects = {
  owner: 'select id, mark from owner',
  pet: 'select id, mark, weight, owner from pet',
  tag: 'select id, mark from tag',
  pairs: `select ${pairs.pet}, ${pairs.tag} from ${pairs.table}`,
} as const

export type Row = readonly (string | number | null)[]

export const truthIn = (rows: Readonly<Record<keyof typeof selects, readonly Row[]>>): Truth =>
  truthOf(
    {
      owner: rows.owner.map(([id, mark]) => ({ id: Number(id), mark: mark as string })),
      pet: rows.pet.map(([id, mark, weight, owner]) => ({
        id: Number(id),
        mark: mark as string,
        weight: Number(weight),
        owner: owner === null ? null : Number(owner),
      })),
      tag: rows.tag.map(([id, mark]) => ({ id: Number(id), mark: mark as string })),
    },
    rows.pairs.map(([pet, tag]) => [Number(pet), Number(tag)]),
  )

/** `tagged` says which pet has which tag. */
function truthOf(
  rows: Readonly<Record<ModelName, readonly JsonObject[]>>,
  tagged: readonly (readonly [pet: number, tag: number])[],
): Truth {
  const owned = rows.pet
    .filter(({ owner }) => owner !== null)
    .map((pet) => [pet.owner as number, pet.id as number] as const)
  return {
    owner: { rows: byId(rows.owner), members: grouped(owned) },
    pet: { rows: byId(rows.pet), members: grouped(tagged) },
    tag: { rows: byId(rows.tag), members: grouped(tagged.map(([pet, tag]) => [tag, pet])) },
  }
}

function grouped(pairs: readonly (readonly [number, number])[]): Map<number, Set<number>> {
  const groups = new Map<number, Set<number>>()
  for (const [id, member] of pairs) groups.set(id, (groups.get(id) ?? new Set<number>()).add(member))
  return groups
}
