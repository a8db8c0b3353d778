import { hash } from 'node:crypto'
import { isInImages, isLocal } from '../../access/condition-parts.ts'
import { guardCriteria } from '../../access/guard.ts'
import { readRulesOf } from '../../access/read-rules.ts'
import { conditionKey } from '../../criteria/condition-key.ts'
import { allAttributes, type Criteria, type Populate } from '../../criteria/criteria.ts'
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
import { andThen, type MaybePromise } from '../../support/maybe-promise.ts'
import type { Authorization } from '../dispatch/authorize.ts'
import { dependenciesOf, involvedModels } from './query-dependencies.ts'

/** The plan of a find: its content with the rules of the requester, what it depends on, and how it is run. */
export function queryPlanOf(
  input: FindInput,
  view: Model,
  { access, store }: Authorization,
  services: OperationServices,
): QueryPlan {
  const model = originalOf(view)
  const criteria = access ? guardCriteria(input.criteria, model, access) : input.criteria
  const rules = readRulesOf(involvedModels(model, input), access)
  const local = localQueryOf(input, criteria)
  const read: FindInput = local ? { ...input, criteria: { ...input.criteria, select: allAttributes(view) } } : input
  /** Subscribers share a run, which goes on when one of them leaves. */
  const client = {}
  const run = (): MaybePromise<QueryResult> =>
    andThen(
      store.snapshot((reads) => list(read, view, reads, services, client)),
      ({ value: { records, total }, position }: Snapshot<Awaited<ReturnType<typeof list>>>) =>
        andThen(
          local ? localRows(records, model, local) : encodedRows(records, model, services.limits.maxAnswerBytes),
          (result) => ({ position, total, hasMore: records.next !== undefined, ...result }),
        ),
    )
  return {
    key: JSON.stringify([model.name, contentOf(criteria), input.populate.map(populateKey), input.count, rules.key]),
    model,
    where: criteria.where,
    local,
    run,
    ...dependenciesOf(model, criteria, input, rules.conditions, access),
  }
}

/** Undefined for a query whose result does not follow from the images of its own records. */
function localQueryOf({ criteria: asked, populate, count }: FindInput, criteria: Criteria): LocalQuery | undefined {
  const { where, sort, limit, skip, masks } = criteria
  const isOwn = populate.length === 0 && !count && skip === 0 && !masks && isLocal(where, isInImages)
  if (!isOwn || sort.some(({ attribute, through, mask }) => through || mask || !isInImages(attribute))) return undefined
  const names = asked.select.map(({ name }) => name)
  return {
    where,
    sort,
    limit,
    textOf: (record) => JSON.stringify(Object.fromEntries(names.map((name) => [name, record[name] ?? null]))),
    digestOf,
  }
}

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

const populateKey = ({ association, criteria, populate }: Populate): readonly unknown[] => [
  association.name,
  contentOf(criteria),
  criteria.maxRows,
  populate.map(populateKey),
]
