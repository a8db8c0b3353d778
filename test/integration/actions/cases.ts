import type { Json } from '../../../src/index.ts'
import { initialStock } from './served-shop.ts'

/** One request to an action: its answer and what it changes, over every database and transport. */
export interface Case {
  readonly what: string
  readonly user?: string
  readonly method?: 'GET' | 'POST'
  readonly path: string
  readonly body?: Json
  readonly status: number
  /** Members of the answer. */
  readonly answers?: Json
  readonly code?: string
  /** The products afterwards, where they changed. */
  readonly stock?: Readonly<Record<string, number>>
  /** Of the sales afterwards; by default none. */
  readonly sales?: number
  /** Only where the transport can carry it. */
  readonly only?: 'http' | 'socket'
  /** Reported to the log. */
  readonly reports?: RegExp
}

export const cases: readonly Case[] = [
  {
    what: 'an action on a record runs in a transaction and sees its own writes',
    path: '/product/1/take',
    body: { quantity: 2 },
    status: 200,
    answers: { product: { id: 1, name: 'Rex', stock: 3, open: true }, buyer: 2 },
    stock: { Rex: 3, Secret: 1 },
    sales: 1,
  },
  {
    what: 'a refusal has its status, code and details, and rolls back',
    path: '/product/1/take',
    body: { quantity: 6 },
    status: 409,
    code: 'OUT_OF_STOCK',
    answers: { detail: 'Only 5 are left', details: { left: 5 } },
  },
  {
    what: 'letter case of the name does not matter',
    user: 'ann',
    path: '/product/1/RENAME',
    body: { name: 'Max' },
    status: 200,
    stock: { Max: 5, Secret: 1 },
  },
  {
    what: 'invalid input names its path',
    path: '/product/1/take',
    body: { quantity: 'x' },
    status: 400,
    code: 'E_INVALID_ATTRIBUTES',
    answers: { attrNames: ['quantity'] },
  },
  { what: 'missing input is invalid', path: '/product/1/take', status: 400, code: 'E_INVALID_ATTRIBUTES' },
  {
    what: 'a missing record comes before invalid input',
    path: '/product/9/take',
    body: { quantity: 'x' },
    status: 404,
    code: 'E_NO_SUCH_RECORD',
  },
  {
    what: 'an id of another form is a missing record',
    path: '/product/abc/take',
    body: { quantity: 1 },
    status: 404,
    code: 'E_NO_SUCH_RECORD',
  },
  {
    what: 'a record that the requester may not read is missing',
    path: '/product/2/take',
    body: { quantity: 1 },
    status: 404,
    code: 'E_NO_SUCH_RECORD',
  },
  {
    what: 'the record shows what the requester may read',
    path: '/product/1/seen',
    status: 200,
    answers: { id: 1, name: 'Rex', stock: 5, open: true },
  },
  { what: 'and more to another', user: 'ann', path: '/product/1/seen', status: 200, answers: { cost: 3 } },
  {
    what: 'an action that takes no input refuses one',
    path: '/product/1/seen',
    body: { a: 1 },
    status: 400,
    code: 'E_BAD_REQUEST',
  },
  {
    what: 'rules of the action come before everything',
    user: 'none',
    path: '/product/9/take',
    body: { quantity: 'x' },
    status: 403,
    code: 'E_FORBIDDEN',
  },
  { what: 'a role is needed', path: '/product/1/rename', body: { name: 'x' }, status: 403, code: 'E_FORBIDDEN' },
  {
    what: 'the rules of the model hold within the action',
    user: 'ann',
    path: '/product/1/rename',
    body: { name: 'Forbidden' },
    status: 403,
    code: 'E_FORBIDDEN',
  },
  {
    what: 'undeclared access is refused where rules are declared',
    user: 'ann',
    path: '/product/hidden',
    status: 403,
    code: 'E_FORBIDDEN',
  },
  { what: 'and for an action of the service', user: 'ann', path: '/undeclared', status: 403, code: 'E_FORBIDDEN' },
  { what: 'undeclared access is open in a public model', path: '/country/merge', status: 200, answers: 'merged' },
  {
    what: 'an action without a result answers 204',
    user: 'ann',
    path: '/product/1/discard',
    status: 204,
    stock: { Secret: 1 },
  },
  {
    what: 'an action on a model takes a list',
    user: 'ann',
    path: '/product/import',
    body: [{ name: 'A' }, { name: 'B' }],
    status: 200,
    answers: { imported: 2 },
    stock: { ...initialStock, A: 0, B: 0 },
  },
  {
    what: 'a write that fails on behalf of the system is an internal error, and fails the whole',
    user: 'ann',
    path: '/product/import',
    body: [{ name: 'A' }, { name: 'Rex' }],
    status: 500,
    code: 'E_INTERNAL',
    reports: /must be unique/,
  },
  {
    what: 'and so it is when the action catches it',
    path: '/careless',
    status: 500,
    code: 'E_INTERNAL',
    answers: { detail: 'Internal server error' },
    reports: /must be unique/,
  },
  {
    what: 'unless the action refuses',
    path: '/careful',
    status: 409,
    code: 'TAKEN',
  },
  {
    what: 'an action runs another in its transaction',
    user: 'ann',
    path: '/product/1/twice',
    body: { quantity: 2 },
    status: 200,
    stock: { Rex: 1, Secret: 1 },
    sales: 2,
  },
  {
    what: 'and fails with it',
    user: 'ann',
    path: '/product/1/twice',
    body: { quantity: 3 },
    status: 409,
    code: 'OUT_OF_STOCK',
  },
  {
    what: 'by GET the input is the query string',
    method: 'GET',
    path: '/product/search?begin=R&_=1',
    status: 200,
    answers: [{ id: 1, name: 'Rex', stock: 5, open: true }],
  },
  { what: 'by GET the rules hold', method: 'GET', path: '/product/search?begin=S', status: 200, answers: [] },
  {
    what: 'by GET nothing is written',
    method: 'GET',
    path: '/product/cheat',
    status: 500,
    code: 'E_INTERNAL',
    reports: /only reads/,
  },
  {
    what: 'another method is not allowed',
    method: 'GET',
    path: '/product/import',
    status: 405,
    code: 'E_METHOD_NOT_ALLOWED',
  },
  {
    what: 'an action of the service',
    path: '/echo',
    body: { a: [1, { b: null }] },
    status: 200,
    answers: { a: [1, { b: null }] },
  },
  {
    what: 'names that objects inherit are values',
    path: '/echo',
    body: { hasOwnProperty: '1', toString: 2 },
    status: 200,
    answers: { hasOwnProperty: '1', toString: 2 },
  },
  {
    what: 'the body comes before the query string',
    path: '/echo?a=1&b=2',
    body: { a: 3 },
    status: 200,
    answers: { a: 3, b: '2' },
  },
  { what: 'a scalar is no body', path: '/echo', body: 7, status: 400, code: 'E_BAD_BODY', only: 'http' },
  {
    what: 'a list where an object is expected',
    path: '/product/1/take',
    body: [1],
    status: 400,
    code: 'E_INVALID_ATTRIBUTES',
  },
  { what: 'a status and headers of its own', path: '/created', status: 201, answers: { id: 7 } },
  { what: 'a redirect', path: '/moved', status: 303 },
  { what: 'null is a result', path: '/empty', status: 200, answers: null },
  { what: 'undefined is none', path: '/nothing', status: 204 },
  {
    what: 'a result above the limit rolls back',
    path: '/large',
    status: 400,
    code: 'E_BAD_REQUEST',
    answers: { limit: 'maxAnswerBytes' },
  },
  {
    what: 'an error of the action is not shown',
    path: '/broken',
    status: 500,
    code: 'E_INTERNAL',
    answers: { detail: 'Internal server error' },
    reports: /secret of the action/,
  },
  {
    what: 'a result that its schema refuses is an error of the action',
    path: '/lying',
    status: 500,
    code: 'E_INTERNAL',
    reports: /not what its schema declares/,
  },
  {
    what: 'a result that is not JSON is an error of the action',
    path: '/notJson',
    status: 500,
    code: 'E_INTERNAL',
    reports: /is not JSON/,
  },
  { what: 'a file', path: '/bytes', status: 200, stock: { ...initialStock, bytes: 0 }, only: 'http' },
  {
    what: 'a file over a socket is refused and rolls back',
    path: '/bytes',
    status: 400,
    code: 'E_BAD_REQUEST',
    only: 'socket',
  },
  { what: 'an action outside of a transaction', path: '/slow', status: 200, answers: 'never part of a transaction' },
  { what: 'nothing follows the name', path: '/echo/1', status: 404, code: 'E_NO_SUCH_ROUTE' },
  { what: 'a name that is no action', path: '/product/1/fly', status: 404, code: 'E_NO_SUCH_ROUTE' },
]
