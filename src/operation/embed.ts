import type { Criteria, Populate } from '../criteria/criteria.ts'
import type { Association, Attribute } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json, JsonObject } from '../protocol/json.ts'
import { JoinedRecords } from '../storage/joined-records.ts'
import { MemoryRecords } from '../storage/memory/records.ts'
import type { ReadOptions } from '../storage/store.ts'
import { type Embedded, encodeList, type Grouped, listPieces, type Reads, type Records } from '../storage/store.ts'
import { chunksOf } from '../support/chunks-of.ts'
import { andThen, forEachSequential, type MaybePromise } from '../support/maybe-promise.ts'

/** The records with their associations in them: few statements for each association and level, however many records. */
export function embed(
  records: Records,
  populate: readonly Populate[],
  reads: Reads,
  client?: ReadOptions,
): MaybePromise<Records> {
  if (populate.length === 0 || records.length === 0) return records
  if (reads.overlaps && populate.length > 1) return embedAtOnce(records, populate, reads, client)
  const members: Embedded[] = []
  return andThen(
    forEachSequential(populate, (item) =>
      andThen(memberOf(records, item, reads, client), (member) => members.push(member)),
    ),
    () => records.embed(members),
  )
}

/** How many associations are read at once. One request must not occupy more connections. */
const atOnce = 4

/** As `embed`; of several failures, that of the first association is thrown. */
async function embedAtOnce(
  records: Records,
  populate: readonly Populate[],
  reads: Reads,
  client: ReadOptions | undefined,
): Promise<Records> {
  const members: Embedded[] = []
  for (const some of chunksOf(populate, atOnce)) {
    const read = await Promise.allSettled(some.map(async (item) => memberOf(records, item, reads, client)))
    for (const result of read) {
      if (result.status === 'rejected') throw result.reason
      members.push(result.value)
    }
  }
  return records.embed(members)
}

function memberOf(
  records: Records,
  { association, criteria, populate }: Populate,
  reads: Reads,
  client: ReadOptions | undefined,
): MaybePromise<Embedded> {
  const { keys, groups } = groupsOf(records.values(keyOf(association)))
  const read = (): MaybePromise<Embedded> =>
    andThen(related(keys, association, criteria, reads, client), ({ records: others, ends }) => {
      return andThen(embed(others, populate, reads, client), (complete) => {
        const grouped = { records: complete, ends }
        return association.kind === 'belongsTo'
          ? one(association.name, grouped, groups)
          : many(association.name, grouped, groups)
      })
    })
  // Code of the application receives objects, so texts are of no use to it.
  if (!client || populate.length > 0 || !mayHaveTexts(keys, criteria)) return read()
  return andThen(reads.relatedTexts?.(association, keys, criteria), (texts) =>
    texts ? encoded(association.name, texts, groups) : read(),
  )
}

/** The distinct keys, and for each record the index of its key, or -1 for a record without one. */
function groupsOf(values: readonly Json[]): { readonly keys: readonly Json[]; readonly groups: readonly number[] } {
  const numbers = new Map<Json, number>()
  const groups: number[] = []
  for (const key of values) {
    const number = key === null ? none : (numbers.get(key) ?? numbers.size)
    if (number === numbers.size) numbers.set(key, number)
    groups.push(number)
  }
  return { keys: [...numbers.keys()], groups }
}

const none = -1

/** Whether so few records are embedded that they are read at once, within every limit. */
const mayHaveTexts = (keys: readonly Json[], { limit, maxRows = Number.POSITIVE_INFINITY }: Criteria): boolean =>
  keys.length > 0 && keys.length * limit < Math.min(rowsAtOnce, maxRows)

const encoded = (name: string, texts: readonly string[], groups: readonly number[]): Embedded => ({
  name,
  encode: (index) => texts[groups[index] as number] ?? 'null',
  decode: (index) => JSON.parse(texts[groups[index] as number] ?? 'null'),
  size: texts.length,
  records: () =>
    new MemoryRecords(
      texts.flatMap((text): JsonObject[] => JSON.parse(text) ?? []),
      [],
    ),
})

/** The most rows of one statement: they are read, or received from another process, in one turn of the event loop. */
const rowsAtOnce = 5_000

/** Reads the keys in slices if there may be many rows. */
function related(
  keys: readonly Json[],
  association: Association,
  criteria: Criteria,
  reads: Reads,
  client: ReadOptions | undefined,
): MaybePromise<Grouped> {
  const { maxRows = Number.POSITIVE_INFINITY, limit } = criteria
  const counted = (grouped: Grouped): Grouped => {
    if (grouped.records.length >= maxRows) throw tooMany(association.name, maxRows - 1)
    return grouped
  }
  const size = Math.max(1, Math.floor(rowsAtOnce / limit))
  if (keys.length <= size) return andThen(reads.related(association, keys, criteria, client), counted)
  const parts: Records[] = []
  const ends: number[] = []
  let length = 0
  const add = (grouped: Grouped): void => {
    parts.push(grouped.records)
    for (const end of grouped.ends) ends.push(length + end)
    length += grouped.records.length
    if (length >= maxRows) throw tooMany(association.name, maxRows - 1)
  }
  return andThen(
    forEachSequential([...chunksOf(keys, size)], (some) =>
      andThen(reads.related(association, some, criteria, client), add),
    ),
    () => ({ records: new JoinedRecords(parts), ends }),
  )
}

const tooMany = (association: string, most: number): ServiceError =>
  new ServiceError(
    'E_BAD_CRITERIA',
    `The response would embed more than ${most} records of the association "${association}" (maxPopulated): use a smaller "limit"`,
    { limit: 'maxPopulated' },
  )

function one(name: string, { records, ends }: Grouped, groups: readonly number[]): Embedded {
  const texts: string[] = []
  let decoded: readonly Json[] | undefined
  const at = (index: number): number => {
    const group = groups[index] as number
    const place = group < 0 ? 0 : (ends[group - 1] ?? 0)
    return group < 0 || place === ends[group] ? -1 : place
  }
  return {
    name,
    encode(index, maxBytes) {
      const place = at(index)
      if (place < 0) return 'null'
      texts[place] ??= records.encodeAt(place, maxBytes)
      return texts[place]
    },
    decode(index) {
      const place = at(index)
      decoded ??= records.decode()
      return place < 0 ? null : (decoded[place] as Json)
    },
    size: records.size,
    records: () => records,
  }
}

function many(name: string, { records, ends }: Grouped, groups: readonly number[]): Embedded {
  let decoded: readonly Json[] | undefined
  return {
    name,
    encode(index, maxBytes) {
      const group = groups[index] as number
      return encodeList(records, maxBytes, ends[group - 1] ?? 0, ends[group] ?? 0)
    },
    pieces(index, maxBytes) {
      const group = groups[index] as number
      return listPieces(records, maxBytes, ends[group - 1] ?? 0, ends[group] ?? 0)
    },
    size: records.size,
    records: () => records,
    decode(index) {
      const group = groups[index] as number
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
