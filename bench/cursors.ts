import { taggedList } from './cases.ts'

/** The cursor of page 300 of the patients by age, in the form of each server. */
export interface Cursors {
  readonly keelson: string
  /** The age and the key of the last patient before it. */
  readonly byHand: string
}

/** The tag of `taggedList`: a hash of the body, and so the same at every server. */
export async function listTag(keelsonPort: number): Promise<string> {
  const { headers } = await fetch(`http://127.0.0.1:${keelsonPort}${taggedList}`)
  return headers.get('etag') ?? ''
}

const pagesBefore = 299

/** Requests one page after the other by following `Link`. */
export async function deepCursors(keelsonPort: number): Promise<Cursors> {
  let target = '/patient?sort=age&limit=30&populate=false'
  let byHand = ''
  for (let page = 0; page < pagesBefore; page++) {
    const response = await fetch(`http://127.0.0.1:${keelsonPort}${target}`)
    const last = ((await response.json()) as { readonly age: number; readonly id: number }[]).at(-1)
    const next = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
    if (!last || next === undefined) throw new Error(`Page ${page + 1} of the patients is the last: ${target}`)
    byHand = `${last.age},${last.id}`
    target = next
  }
  const keelson = new URL(target, 'http://localhost').searchParams.get('cursor')
  if (keelson === null) throw new Error(`The next page is not found by a cursor: ${target}`)
  return { keelson, byHand }
}
