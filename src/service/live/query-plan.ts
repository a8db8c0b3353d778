import { hash } from 'node:crypto'
import { isInImages, isLocal } from '../../access/condition-parts.ts'
import { guardCriteria, type ReadAccess } from '../../access/guard.ts'
import { readRulesOf } from '../../access/read-rules.ts'
import { conditionKey } from '../../criteria/condition-key.ts'
import { allAttributes, type Criteria, type Populate, type Sort } from '../../criteria/criteria.ts'
import { type Model, originalOf } from '../../model/model.ts'
import type { FindInput } from '../../operation/find-input.ts'
import { list } from '../../operation/list.ts'
import type { OperationServices } from '../../operation/operation.ts'
import type { RecordId } from '../../protocol/change.ts'
import { heldSortOf } from '../../realtime/queries/local-rows.ts'
import type { LocalQuery, QueryPlan, QueryResult } from '../../realtime/queries/query-plan.ts'
import type { HeldRow } from '../../realtime/queries/row-difference.ts'
import type { Records, Snapshot } from '../../storage/store.ts'
import { forEachInTurns } from '../../support/event-loop-turn.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'
import { Lru } from '../../support/lru.ts'
import { andThen, type MaybePromise } from '../../support/maybe-promise.ts'
import type { Authorization } from '../dispatch/authorize.ts'
import { dependenciesOf, involvedModels, ownDependencies } from './query-dependencies.ts'

/** The length of all keys of plans that are kept. */
const keptCharacters = 500_000

/** Plans of finds. Equal finds have one plan, whose compiled statement they share: an application sends the same to all clients. */
export class LiveQueryPlans {
  readonly #services: OperationServices
  readonly #kept = new Lru<string, QueryPlan>(keptCharacters, undefined, ({ length }) => length)

  constructor(services: OperationServices) {
    this.#services = services
  }

  /** The content of the find with the rules of the requester, what it depends on, and how it is run. */
  of(input: FindInput, view: Model, authorization: Authorization): QueryPlan {
    const { access } = authorization
    const model = originalOf(view)
    const criteria = access ? guardCriteria(input.criteria, model, access) : input.criteria
    const populate = access ? guardPopulates(input.populate, access) : input.populate
    const rules = readRulesOf(involvedModels(model, input), access)
    const key = JSON.stringify([model.name, contentOf(criteria), populate.map(populateKey), input.count, rules.key])
    return getOrInsertComputed(this.#kept, key, () => {
      const local = localQueryOf(input, criteria)
      return {
        key,
        model,
        where: criteria.where,
        local,
        run: runOf(input, view, local, authorization, this.#services),
        ...(local
          ? ownDependencies(model, criteria.where)
          : dependenciesOf(model, criteria, populate, rules.conditions)),
      }
    })
  }
}

function runOf(
  input: FindInput,
  view: Model,
  local: LocalQuery | undefined,
  { store }: Authorization,
  services: OperationServices,
): QueryPlan['run'] {
  const model = originalOf(view)
  const all = allAttributes(view)
  // A copy of the criteria has no template, by which requests of one shape share a statement.
  const selectsAll = !local || input.criteria.select === all
  const read: FindInput = selectsAll ? input : { ...input, criteria: { ...input.criteria, select: all } }
  /** Subscribers share a run, which goes on when one of them leaves. */
  const client = {}
  return () =>
    andThen(
      store.snapshot((reads) => list(read, view, reads, services, client)),
      ({
        value: { records, total },
        position,
      }: Snapshot<Awaited<ReturnType<typeof list>>>): MaybePromise<QueryResult> =>
        andThen(
          local ? localRows(records, model, local) : encodedRows(records, model, services.limits.maxAnswerBytes),
          (result) => ({ position, total, hasMore: records.next !== undefined, ...result }),
        ),
    )
}

/** Undefined for a query whose result does not follow from the images of its own records. */
function localQueryOf({ criteria: asked, populate, count }: FindInput, criteria: Criteria): LocalQuery | undefined {
  const { where, sort, limit, skip, masks } = criteria
  const isOwn = populate.length === 0 && !count && skip === 0 && !masks && isLocal(where, isInImages)
  if (!isOwn || !sort.every(isOrderOfImages)) return undefined
  const names = asked.select.map(({ name }) => name)
  return {
    where,
    sort,
    limit,
    textOf: (record) => JSON.stringify(Object.fromEntries(names.map((name) => [name, record[name] ?? null]))),
    digestOf,
  }
}

/** Whether the order of records follows from their images. */
const isOrderOfImages = ({ attribute, through, mask }: Sort): boolean =>
  !through && !mask && isInImages(attribute) && attribute.stored.ownComparison === 'none'

type Rows = Pick<QueryResult, 'rows' | 'texts' | 'length'>
type Row = Pick<HeldRow, 'sort'> & { readonly text: string }

const localRows = (records: Records, model: Model, local: LocalQuery): MaybePromise<Rows> =>
  rowsOf(records, model, local.digestOf, (index) => {
    const record = records.decodeAt(index)
    return { text: local.textOf(record), sort: heldSortOf(record, local) }
  })

const encodedRows = (records: Records, model: Model, maxBytes: number): MaybePromise<Rows> =>
  rowsOf(records, model, digestOf, (index) => ({ text: inOneLine(records.encodeAt(index, maxBytes)) }))

/** A line of an event stream ends at a line break, which JSON of other programs may have between its values, and only there. */
const inOneLine = (text: string): string => (/[\r\n]/.test(text) ? text.replaceAll(/[\r\n]+/g, ' ') : text)

function rowsOf(
  records: Records,
  { primaryKey }: Model,
  digestOf: (text: string) => string,
  rowAt: (index: number) => Row,
): MaybePromise<Rows> {
  const ids = records.values(primaryKey) as readonly RecordId[]
  const texts: string[] = []
  const rows: HeldRow[] = []
  let length = 0
  const add = (id: RecordId, index: number): void => {
    const { text, ...rest } = rowAt(index)
    texts.push(text)
    rows.push({ id, digest: digestOf(text), ...rest })
    length += text.length
  }
  return andThen(forEachInTurns(ids, add), () => ({ rows, texts, length }))
}

const digestOf = (text: string): string => hash('sha1', text, 'base64url').slice(0, 20)

const contentOf = ({ where, sort, limit, skip, select }: Criteria): readonly unknown[] => [
  conditionKey(where),
  sort.map(({ attribute, direction, through }) => [attribute.name, direction, through?.name]),
  limit,
  skip,
  select.map(({ name }) => name),
]

/** What is embedded, with the rules of the requester in its conditions: these may pass through models that are not read otherwise. */
const guardPopulates = (populates: readonly Populate[], access: ReadAccess): readonly Populate[] =>
  populates.map((item) => ({
    ...item,
    criteria: guardCriteria(item.criteria, originalOf(item.association.target), access),
    populate: guardPopulates(item.populate, access),
  }))

const populateKey = ({ association, criteria, populate }: Populate): readonly unknown[] => [
  association.name,
  contentOf(criteria),
  criteria.maxRows,
  populate.map(populateKey),
]
