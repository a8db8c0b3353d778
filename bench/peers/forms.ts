import type { BenchRequest } from '../cases.ts'

/** A request of a case in the form of a peer. */
export type Form = (request: BenchRequest) => BenchRequest

export const unchanged: Form = (request) => request

/** `/pet?kind=cat&weight[$gte]=2&$sort[age]=-1&$limit=30` */
export const feathersForm = formOf({
  prefix: '',
  limit: '$limit',
  update: 'PATCH',
  filter: ({ kind, weight }) => ({ kind, 'weight[$gte]': weight, '$sort[age]': '-1' }),
})

/** `/api/pet?kind=cat&weight.gte=2&_sort=age&_order=desc&_limit=30` */
export const remultForm = formOf({
  prefix: '/api',
  limit: '_limit',
  update: 'PUT',
  filter: ({ kind, weight }) => ({ kind, 'weight.gte': weight, _sort: 'age', _order: 'desc' }),
})

interface Spelling {
  readonly prefix: string
  readonly limit: string
  readonly update: BenchRequest['method']
  /** The filter of the case `filtered`. */
  readonly filter: (values: { readonly kind: string; readonly weight: string }) => Readonly<Record<string, string>>
}

function formOf({ prefix, limit, update, filter }: Spelling): Form {
  return ({ method, target, body }) => {
    const url = new URL(target, 'http://localhost')
    const where = url.searchParams.get('where')
    const query = new URLSearchParams()
    if (where !== null) {
      const { kind, weight } = JSON.parse(where)
      for (const [name, value] of Object.entries(filter({ kind, weight: String(weight['>=']) }))) query.set(name, value)
    }
    const asked = url.searchParams.get('limit')
    if (asked !== null) query.set(limit, asked)
    return {
      method: method === 'PATCH' ? update : method,
      target: `${prefix}${url.pathname}${query.size > 0 ? `?${query}` : ''}`,
      ...(body !== undefined && { body }),
    }
  }
}
