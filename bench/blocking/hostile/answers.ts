import { owners, rows } from '../models.ts'
import { get, type Hostile, post, several } from './hostile.ts'

const page = (model: string, n: number, rest: string) => get(`/${model}?limit=1000&skip=${n % 900}&${rest}`)

/** Answers with as many records, bytes or embedded records as the limits allow. */
export const hostileAnswers: readonly Hostile[] = [
  { name: 'pages of 1000', request: (n) => page('pet', n, 'populate=false') },
  { name: 'pages of 1000, by socket', over: 'socket', request: (n) => page('pet', n, 'populate=false') },
  { name: 'pages of 1000 with 60 attributes', request: (n) => page('wide', n, 'populate=false') },
  { name: 'pages of 1000, sorted', request: (n) => page('wide', n, 'populate=false&sort=n5') },
  { name: 'answers of 15 MB', request: () => page('document', 0, 'populate=false') },
  { name: 'answers of 15 MB, by socket', over: 'socket', request: () => page('document', 0, 'populate=false') },
  {
    name: 'answers of 15 MB, by long polling',
    over: 'polling',
    polls: 2,
    request: () => ({
      ...post('', undefined),
      text: '63:421["get",{"url":"/document?limit=1000&populate=false&skip=0"}]',
    }),
  },
  { name: 'JSONP of 15 MB', request: () => page('document', 0, 'populate=false&callback=f') },
  {
    name: 'known answers of 15 MB',
    request: (n) => ({ ...page('document', n, 'populate=false'), headers: { 'If-None-Match': '"x"' } }),
  },
  { name: 'pages with owners and visits', request: (n) => page('pet', n, 'populate=owner,visits') },
  {
    name: 'pages with owners and visits, by socket',
    over: 'socket',
    request: (n) => page('pet', n, 'populate=owner,visits'),
  },
  { name: 'pages of owners with 30 pets each', request: (n) => page('owner', n, 'populate=pets') },
  {
    name: 'pages with three levels',
    request: (n) =>
      page('visit', n, `populate=${encodeURIComponent('{"pet":{"populate":{"owner":{"populate":["pets"]}}}}')}`),
  },
  {
    name: 'pages of owners with 1,000 pets each',
    request: (n) => page('owner', n % 2, `populate=${encodeURIComponent('{"pets":{"limit":1000}}')}`),
  },
  {
    name: 'a member list of 1,000',
    request: () => get(`/owner/${owners.huge}?populate=${encodeURIComponent('{"pets":{"limit":1000}}')}`),
  },
  {
    name: 'a list of 500 keys',
    request: (n) =>
      get(
        `/pet?limit=1000&where=${encodeURIComponent(JSON.stringify({ id: several(500, (i) => 1 + ((n * 500 + i) % rows.pet)) }))}`,
      ),
  },
  {
    name: 'a list of 500 foreign keys',
    request: (n) =>
      get(
        `/pet?limit=1000&populate=false&where=${encodeURIComponent(JSON.stringify({ owner: several(500, (i) => 3 + n + i) }))}`,
      ),
  },
  { name: 'cursors, sorted by an attribute', request: () => get('/pet?sort=age,name&limit=1000&populate=false') },
  {
    name: 'a computed attribute, filtered',
    request: (n) => get(`/pet?populate=false&where=${encodeURIComponent(`{"title":{"contains":"x${n}"}}`)}`),
  },
  { name: 'a computed attribute, sorted', request: () => get('/pet?populate=false&sort=title&limit=1000') },
  {
    name: 'a computed attribute, 1000 with long texts',
    request: (n) => page('document', n, 'populate=false&select=summary'),
  },
  {
    name: 'a batch of 200 pages',
    request: () =>
      post(
        '/batch',
        several(200, (i) => ({ method: 'GET', url: `/pet?limit=300&skip=${i}&populate=false` })),
      ),
  },
  {
    name: 'a batch of 200 populated pages',
    request: () =>
      post(
        '/batch',
        several(200, (i) => ({ method: 'GET', url: `/pet?skip=${i}` })),
      ),
  },
  {
    name: 'a batch of 200 that fails late',
    request: () =>
      post('/batch', [
        ...several(40, (i) => ({ method: 'GET', url: `/pet?limit=1000&skip=${i}&populate=false` })),
        { method: 'GET', url: '/pet/0' },
      ]),
  },
  {
    name: 'a batch of 200 pages, not atomic',
    request: () =>
      post(
        '/batch?atomic=false',
        several(200, (i) => ({ method: 'GET', url: `/pet?limit=300&skip=${i}&populate=false` })),
      ),
  },
  {
    name: 'a batch that refers to an answer of 15 MB',
    request: () =>
      post('/batch?atomic=false', [
        { method: 'GET', url: '/document?limit=1000&populate=false' },
        { method: 'GET', url: '/pet/$0.0.id?populate=false' },
      ]),
  },
  { name: 'shapes, first pages', request: () => get('/v1/shape?table=pet&offset=-1') },
  { name: 'shapes of 15 MB', request: () => get('/v1/shape?table=document&offset=-1') },
  { name: 'the client as a script', request: () => get('/keelson.js') },
  { name: 'the client as a script, compressed', request: () => get('/keelson.js', { 'Accept-Encoding': 'gzip' }) },
  { name: 'the landing page', request: () => get('/', { Accept: 'text/html' }) },
]
