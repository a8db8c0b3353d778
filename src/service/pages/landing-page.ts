import { hash } from 'node:crypto'
import type { Access } from '../../access/policy.ts'
import { EncodedJson, type Json } from '../../protocol/json.ts'
import type { ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import { getOrInsertComputed } from '../../support/get-or-insert-computed.ts'
import { actionLines, routesByModel } from '../dispatch/model-routes.ts'
import { methodNotAllowed } from '../dispatch/route.ts'
import type { Routes } from '../dispatch/routes.ts'
import { landingPageHtml } from './landing-page-html.ts'
import { landingPageList } from './landing-page-list.ts'
import { landingPageScript } from './landing-page-script.ts'
import { landingPageStyle } from './landing-page-style.ts'

/** With rules, it names what the requester may read. */
export type LandingPage = (request: ServiceRequest, access?: Access) => ServiceResponse

/** The models and routes of the service: an HTML page for browsers, JSON for programs. */
export function createLandingPage(routes: Routes, pages: readonly string[] = []): LandingPage {
  const all = routesByModel(routes)
  const ofService = actionLines(routes, undefined)
  const lists = new Map<string, Json>()
  return (request, access) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed(['GET', 'HEAD', 'OPTIONS'])
    const headers = { Vary: 'Accept' }
    const views = access?.views
    const models = views ? all.map((line) => ({ ...line, model: views.of(line.model) })) : all
    if (!wantsPage(request)) {
      const body = getOrInsertComputed(lists, views?.key ?? '', () => landingPageList(models, ofService))
      return { status: 200, headers, body }
    }
    const { markup } = landingPageHtml(models, originOf(request), pages)
    return { status: 200, headers: { ...headers, ...pageHeaders }, body: new EncodedJson(markup) }
  }
}

const hashOf = (text: string): string => `'sha256-${hash('sha256', text, 'base64')}'`

/** Only its own script and style run; the page sends requests to the service alone and cannot be framed. */
const policy = [
  "default-src 'none'",
  `script-src ${hashOf(landingPageScript)}`,
  `style-src ${hashOf(landingPageStyle.markup)}`,
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const pageHeaders = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': policy,
  // Shows the service that a request comes from its own page, where browsers send no Sec-Fetch-Site.
  'Referrer-Policy': 'same-origin',
  // The examples contain the host of the request.
  'Cache-Control': 'no-store',
}

/** Whether `Accept` names HTML, as browsers do; a JSONP request always gets data. */
export const wantsPage = ({ headers, query }: ServiceRequest): boolean =>
  String(headers.accept ?? '').includes('text/html') && !/(?:^|&)callback=/.test(query)

const hostName = /^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/

/** The origin under which the client reached the service; a proxy in front may use another protocol. */
function originOf({ headers }: ServiceRequest): string {
  const host = typeof headers.host === 'string' && hostName.test(headers.host) ? headers.host : 'localhost'
  return `${headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'}://${host}`
}
