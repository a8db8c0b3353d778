import { everyAttribute, type Model } from '../model/model.ts'
import { nearest } from '../support/nearest.ts'

/** Names that other systems use for the parameters of a list, in lower case. */
const otherNames: Readonly<Record<string, readonly string[]>> = {
  where: ['filter', 'filters', '_where', '$filter', '$where', 'query', 'q'],
  limit: [
    '_limit',
    '$limit',
    '$top',
    'top',
    'first',
    'take',
    'max',
    'size',
    'pagesize',
    'page_size',
    'perpage',
    'per_page',
  ],
  skip: ['_start', '_skip', '$skip', 'offset', '_offset', 'page', '_page', 'start'],
  sort: ['_sort', '$sort', '_order', 'order', 'orderby', 'order_by', '$orderby', 'ordering', 'sortby', 'sort_by'],
  select: ['fields', '_fields', '$select', '_select', 'only', 'attributes', 'columns'],
  omit: ['exclude', 'except', '$omit'],
  populate: ['include', 'expand', '_embed', '_expand', '$expand', '$populate', 'with', 'join', 'relations', 'embed'],
  count: ['_count', '$count', 'total'],
  and: ['$and'],
  or: ['$or'],
  not: ['$not'],
  cursor: ['after', 'before', '_cursor', '$cursor', 'next'],
}

const parameters = new Map(
  Object.entries(otherNames).flatMap(([name, others]) => [name, ...others].map((other) => [other, name])),
)

/** What an unknown attribute name was probably meant to be, as the end of a message. */
export function suggestion(name: string, model: Model): string {
  const parameter = parameters.get(name.toLowerCase())
  if (parameter !== undefined) return `; did you mean the parameter "${parameter}"?`
  const visible = everyAttribute(model)
    .filter(({ hidden }) => !hidden)
    .map((attribute) => attribute.name)
  const near = nearest(name.slice(0, 60), [...visible, ...model.associations.keys()])
  return near === undefined ? '' : `; did you mean "${near}"?`
}
