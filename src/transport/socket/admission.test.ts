import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type AdmissionOptions, createAdmission } from './admission.ts'

const host = 'pets.example'
const listed: AdmissionOptions = { cors: { origins: ['https://app.example'] } }
const credentials: AdmissionOptions = { cors: { origins: ['https://app.example'], credentials: true } }
const everybody: AdmissionOptions = { cors: { origins: '*' } }
const only: AdmissionOptions = { ...credentials, onlyAllowOrigins: ['https://shop.example'] }

const cases: readonly [name: string, options: AdmissionOptions, origin: string | undefined, outcome: string][] = [
  ['a program', {}, undefined, 'with cookie'],
  ['our own page', {}, 'http://pets.example', 'with cookie'],
  ['our own page behind TLS', {}, 'https://pets.example', 'with cookie'],
  ['a page on another port', {}, 'http://pets.example:81', 'refused'],
  ['a page of another site', {}, 'https://app.example', 'refused'],
  ['a page of a site that ends as ours', {}, 'http://evil-pets.example', 'refused'],
  ['a page without a site', {}, 'null', 'refused'],
  ['what is no origin', {}, 'pets.example', 'refused'],
  ['a listed page', listed, 'https://app.example', 'without cookie'],
  ['a listed page with credentials', credentials, 'https://app.example', 'with cookie'],
  ['a listed page by another protocol', listed, 'http://app.example', 'refused'],
  ['any page, where all may', everybody, 'https://evil.example', 'without cookie'],
  ['our own page, where all may', everybody, 'https://pets.example', 'with cookie'],
  ['a page of the only origin', only, 'https://shop.example', 'with cookie'],
  ['our own page, if it is not the only one', only, 'https://pets.example', 'refused'],
  ['a page that only cors lists', only, 'https://app.example', 'refused'],
  ['a program, whatever the only origin is', only, undefined, 'with cookie'],
]

describe('admission of', () => {
  for (const [name, options, origin, outcome] of cases) {
    test(`${name}: ${outcome}`, () => {
      const headers = createAdmission(options)({ host, cookie: 'sid=1', ...(origin !== undefined && { origin }) })
      const found = headers === undefined ? 'refused' : headers.cookie === 'sid=1' ? 'with cookie' : 'without cookie'
      assert.equal(found, outcome)
    })
  }
})

test('requests begin with what the connection says of the client, not with what it says of the opening', () => {
  const headers = createAdmission({})({
    host,
    origin: 'http://pets.example',
    authorization: 'Bearer x',
    'x-forwarded-for': '10.0.0.1',
    'user-agent': 'test',
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': 'x',
    'sec-fetch-site': 'cross-site',
    'sec-purpose': 'prefetch',
    accept: 'text/html',
    'cache-control': 'no-cache',
    'if-match': '"x"',
  })
  assert.deepEqual(headers, {
    host,
    origin: 'http://pets.example',
    authorization: 'Bearer x',
    'x-forwarded-for': '10.0.0.1',
    'user-agent': 'test',
    'sec-fetch-site': 'same-origin',
  })
})
