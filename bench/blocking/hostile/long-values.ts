import { rows } from '../models.ts'
import { type Hostile, patch, post, several } from './hostile.ts'

const megabyte = 'long words '.repeat(95_000)

/** Writes beside which a record has values of 1 MB. */
export const hostileLongValues: readonly Hostile[] = [
  {
    name: 'a record of 1 MB, changed by 30 patterns',
    request: (n) => {
      if (n === 0) return post('/document?populate=false', { title: 'by pattern', text: megabyte })
      const unmatched = several(29, (i) => ({ text: { like: `%w%d%x${n}.${i}` } }))
      return patch('document', { title: 'by pattern', or: [...unmatched, { id: { '>': 0 } }] }, { data: n })
    },
  },
  {
    name: 'a record of 2 MB, changed a little',
    request: (n) => {
      const body = n === 0 ? { text: megabyte } : n === 1 ? { data: megabyte } : { title: `t${n}` }
      return { method: 'PATCH', path: `/document/${rows.document}?populate=false`, body }
    },
  },
  {
    name: 'a batch that writes and then sorts',
    request: (n) =>
      post('/batch', [
        { method: 'PATCH', url: `/visit/${1 + n}?populate=false`, body: { cost: n } },
        { method: 'GET', url: `/wide?populate=false&limit=1000&sort=t${n % 20}&where={"n1":{"!=":${n}}}` },
      ]),
  },
]
