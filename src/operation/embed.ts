import type { Populate } from '../criteria/criteria.ts'
import type { Attribute } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import { type Embedded, encodeList, type Grouped, type Reads, type Records } from '../storage/store.ts'
import { entry } from '../support/entry.ts'
import { chain, each, type Maybe } from '../support/maybe.ts'

/** The records with their associations in them: one statement for each association and level, however many records. */
export function embed(records: Records, populate: readonly Populate[], reads: Reads): Maybe<Records> {
  if (populate.length === 0 || records.length === 0) return records
  const members: Embedded[] = []
  return chain(
    each(populate, (item) => chain(memberOf(records, item, reads), (member) => members.push(member))),
    () => records.embed(members),
  )
}

function memberOf(records: Records, { association, criteria, populate }: Populate, reads: Reads): Maybe<Embedded> {
  const values = records.values(keyOf(association))
  // Many records may point to the same one, and some to none.
  const keys: Json[] = [...new Set(values)].filter((value) => value !== null)
  const groups = new Map(keys.map((key, index) => [key, index]))
  return chain(reads.related(association, keys, criteria), ({ records: others, ends }) =>
    chain(embed(others, populate, reads), (complete) => {
      const groupOf = (index: number) => groups.get(values[index] as Json) ?? -1
      const grouped = { records: complete, ends }
      return association.kind === 'belongsTo'
        ? one(association.name, grouped, groupOf)
        : many(association.name, grouped, groupOf)
    }),
  )
}

function one(name: string, { records, ends }: Grouped, groupOf: (index: number) => number): Embedded {
  const texts = new Map<number, string>()
  let decoded: readonly Json[] | undefined
  const at = (index: number): number => {
    const group = groupOf(index)
    const place = group < 0 ? 0 : (ends[group - 1] ?? 0)
    return group < 0 || place === ends[group] ? -1 : place
  }
  return {
    name,
    encode(index) {
      const place = at(index)
      return place < 0 ? 'null' : entry(texts, place, () => records.encodeAt(place))
    },
    decode(index) {
      const place = at(index)
      decoded ??= records.decode()
      return place < 0 ? null : (decoded[place] as Json)
    },
  }
}

function many(name: string, { records, ends }: Grouped, groupOf: (index: number) => number): Embedded {
  let decoded: readonly Json[] | undefined
  return {
    name,
    encode(index) {
      const group = groupOf(index)
      return encodeList(records, ends[group - 1] ?? 0, ends[group] ?? 0)
    },
    decode(index) {
      const group = groupOf(index)
      decoded ??= records.decode()
      return decoded.slice(ends[group - 1] ?? 0, ends[group] ?? 0)
    },
  }
}

/** The attribute of the records that leads to the other side. */
function keyOf(association: Populate['association']): Attribute {
  switch (association.kind) {
    case 'belongsTo':
      return association.foreignKey
    case 'hasMany':
      return association.via.references?.primaryKey as Attribute
    case 'manyToMany':
      return association.near.references?.primaryKey as Attribute
  }
}
