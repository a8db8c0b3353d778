import type { ServiceRequest } from '../protocol/request.ts'

/** Whether a browser says, one way or another, that a page of another site sends this. */
export function isFromAnotherSite({ headers }: ServiceRequest): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site === 'cross-site'
  const page = headers.origin ?? headers.referer
  if (typeof page !== 'string') return false
  return !URL.canParse(page) || new URL(page).host !== headers.host
}

/** Whether a browser only reads ahead: nobody has followed the link yet. */
export const isReadAhead = ({ headers }: ServiceRequest): boolean =>
  `${headers['sec-purpose'] ?? ''} ${headers.purpose ?? ''}`.includes('prefetch')
