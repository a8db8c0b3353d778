import type { ServiceRequest, ServiceResponse } from '../protocol/request.ts'
import type { Routes } from './routes.ts'

export type WelcomePage = (request: ServiceRequest) => ServiceResponse

/** What is served here: a page for people, a list for programs. */
export function welcomePage(routes: Routes): WelcomePage {
  const list = { routes: routes.list.map(({ method, path }) => `${method} ${path}`) }
  return () => ({ status: 200, headers: {}, body: list })
}
