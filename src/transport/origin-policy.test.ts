import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Site } from '../protocol/request.ts'
import { type OriginOptions, OriginPolicy } from './origin-policy.ts'

const app = 'https://app.example'
const cors: OriginOptions = { cors: { origins: [app] } }
const credentials: OriginOptions = { cors: { origins: [app], credentials: true } }
const everyOrigin: OriginOptions = { cors: { origins: '*' } }

describe('acceptsHost', () => {
  const cases: readonly [host: string | undefined, isAccepted: boolean, allowedHosts?: readonly string[] | '*'][] = [
    [undefined, true],
    ['localhost', true],
    ['LOCALHOST:1337', true],
    ['pets.localhost', true],
    ['127.0.0.1:1337', true],
    ['192.168.1.5', true],
    ['[::1]:1337', true],
    ['[fe80::1]', true],
    ['evil.example', false],
    ['evil.example:1337', false],
    ['127.0.0.1.evil.example', false],
    ['localhost.evil.example', false],
    ['notlocalhost', false],
    ['[::1].evil.example', false],
    ['localhost@evil.example', false],
    ['localhost, evil.example', false],
    ['', false],
    ['localhost:port', false],
    ['api.example', true, ['api.example']],
    ['API.example:8443', true, ['api.example']],
    ['sub.api.example', false, ['api.example']],
    ['api.example:8443', true, ['api.example:8443']],
    ['api.example:8444', false, ['api.example:8443']],
    ['evil.example', true, '*'],
  ]
  for (const [host, isAccepted, allowedHosts] of cases) {
    test(`${host} with ${JSON.stringify(allowedHosts)}: ${isAccepted}`, () =>
      assert.equal(new OriginPolicy({ allowedHosts }).acceptsHost(host), isAccepted))
  }
})

describe('siteOf', () => {
  const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' }
  const claim = (site: string) => ({ ...browser, 'sec-fetch-site': site })
  const cases: readonly [name: string, headers: Readonly<Record<string, string>>, Site, method?: string][] = [
    ['a program', { 'user-agent': 'curl/8.5.0' }, 'none'],
    ['a program without a user agent', {}, 'none'],
    ['a browser without Sec-Fetch-Site', browser, 'cross-site'],
    ['a POST without an origin, which no browser sends', browser, 'none', 'POST'],
    ['the address bar', claim('none'), 'none'],
    ['its own page', claim('same-origin'), 'same-origin'],
    ['a page on another port', claim('same-site'), 'same-site'],
    ['another site', claim('cross-site'), 'cross-site'],
    ['an unknown claim', claim('friendly'), 'cross-site'],
    ['its own origin', { ...browser, origin: 'http://pets.example' }, 'same-origin'],
    ['its own origin behind TLS', { ...browser, origin: 'https://pets.example' }, 'same-origin'],
    [
      'its own origin that claims to be cross-site',
      { ...claim('cross-site'), origin: 'http://pets.example' },
      'cross-site',
    ],
    ['another port', { ...browser, origin: 'http://pets.example:81' }, 'cross-site'],
    ['another port that claims same-site', { ...claim('same-site'), origin: 'http://pets.example:81' }, 'same-site'],
    ['another origin that claims same-origin', { ...claim('same-origin'), origin: app }, 'cross-site'],
    ['another origin that claims none', { ...claim('none'), origin: app }, 'cross-site'],
    ['an opaque origin', { ...browser, origin: 'null' }, 'cross-site'],
    ['an origin with its name in front', { origin: 'http://pets.example.evil.example' }, 'cross-site'],
    ['an origin of another scheme', { origin: 'ftp://pets.example' }, 'cross-site'],
    ['its own referrer', { ...browser, referer: 'http://pets.example/page' }, 'same-origin'],
    ['a referrer of another site', { ...browser, referer: 'http://evil.example/' }, 'cross-site'],
    ['its own referrer after a redirect', { ...claim('cross-site'), referer: 'http://pets.example/' }, 'cross-site'],
    ['a referrer of another site in a program', { referer: 'http://evil.example/' }, 'cross-site'],
    [
      'a page on loopback under another name',
      { ...claim('cross-site'), host: '127.0.0.1:1337', referer: 'http://localhost:3000/' },
      'same-site',
    ],
    ['a page on loopback', { ...claim('cross-site'), referer: 'http://localhost:3000/' }, 'cross-site'],
    ['the public host behind a proxy', { origin: 'https://www.example', host: '127.0.0.1:1337' }, 'same-origin'],
  ]
  for (const [name, headers, site, method = 'GET'] of cases) {
    test(`${name}: ${site}`, () =>
      assert.equal(
        new OriginPolicy({ allowedHosts: ['www.example'] }).siteOf(method, { host: 'pets.example', ...headers }),
        site,
      ))
  }
})

describe('socketAccess', () => {
  const shop = ['https://shop.example']
  const cases: readonly [
    name: string,
    options: OriginOptions,
    origin: string | undefined,
    access: string,
    only?: readonly string[],
  ][] = [
    ['a program', {}, undefined, 'with cookies'],
    ['its own page', {}, 'http://pets.example', 'with cookies'],
    ['its own page behind TLS', {}, 'https://pets.example', 'with cookies'],
    ['a page on another port', {}, 'http://pets.example:81', 'none'],
    ['a page of another site', {}, app, 'none'],
    ['a site whose name ends alike', {}, 'http://evil-pets.example', 'none'],
    ['an opaque origin', {}, 'null', 'none'],
    ['an invalid origin', {}, 'pets.example', 'none'],
    ['a listed page', cors, app, 'without cookies'],
    ['a listed page with credentials', credentials, app, 'with cookies'],
    ['a listed page by another protocol', cors, 'http://app.example', 'none'],
    ['any page with *', everyOrigin, 'https://evil.example', 'without cookies'],
    ['its own page with *', everyOrigin, 'https://pets.example', 'with cookies'],
    ['a page of onlyAllowOrigins', credentials, 'https://shop.example', 'with cookies', shop],
    ['its own page, which onlyAllowOrigins does not list', credentials, 'https://pets.example', 'none', shop],
    ['a page that only cors lists', credentials, app, 'none', shop],
    ['a program with onlyAllowOrigins', credentials, undefined, 'with cookies', shop],
  ]
  for (const [name, options, origin, access, only] of cases) {
    test(`${name}: ${access}`, () => {
      const policy = new OriginPolicy({ ...options, allowedHosts: ['pets.example'] })
      assert.equal(policy.socketAccess({ host: 'pets.example', origin }, only), access)
    })
  }

  test('a page whose DNS name was rebound to the service: none', () => {
    const headers = { host: 'evil.example:1337', origin: 'http://evil.example:1337' }
    assert.equal(new OriginPolicy({}).socketAccess(headers), 'none')
    assert.equal(new OriginPolicy({}).socketAccess({ host: 'evil.example:1337' }), 'none')
  })
})
