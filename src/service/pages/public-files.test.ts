import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import { type OpenService, openService } from '../open-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'keelson-public-'))
const root = join(folder, 'public')
const files: Readonly<Record<string, string>> = {
  'public/index.html': '<h1>top</h1>',
  'public/app.js': 'run()',
  'public/Photo.JPEG': 'bytes',
  'public/unknown.xyz': 'bytes',
  'public/with space & ü.txt': 'named',
  'public/empty.txt': '',
  'public/large.css': 'body { color: black; }\n'.repeat(1000),
  'public/big.bin': 'x'.repeat(300_000),
  'public/sub/index.html': '<h1>sub</h1>',
  'public/sub/page.html': 'page',
  'public/bare/file.txt': 'file',
  'public/pet': 'hidden by the model',
  'public/.env': 'secret',
  'public/.git/config': 'secret',
  'public/secrets/.htpasswd': 'secret',
  'outside.txt': 'secret',
  'public-too/file.txt': 'secret',
}
const changed = new Date('2026-03-04T05:06:07.890Z')

let service: OpenService
before(async () => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), text)
    utimesSync(join(folder, name), changed, changed)
  }
  symlinkSync('app.js', join(root, 'link.js'))
  symlinkSync(join(folder, 'outside.txt'), join(root, 'out.txt'))
  symlinkSync('.env', join(root, 'env.txt'))
  symlinkSync(folder, join(root, 'up'))
  symlinkSync('loop', join(root, 'loop'))
  service = await openService({
    database: 'memory:',
    models: { pet: { attributes: { name: { type: 'string' } } } },
    public: root,
    onError: (error) => assert.fail(String(error)),
  })
})
after(async () => {
  await service[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const ask = async (path: string, more: Partial<ServiceRequest> = {}): Promise<ServiceResponse> =>
  service.handle({ method: 'GET', path, query: '', headers: {}, site: 'none', ...more })

async function textOf({ stream }: ServiceResponse): Promise<string> {
  let text = ''
  for await (const piece of stream ?? []) text += Buffer.from(piece as Uint8Array).toString()
  return text
}

const html = 'text/html; charset=utf-8'
const script = 'text/javascript; charset=utf-8'
for (const [path, type, name] of [
  ['/app.js', script, 'public/app.js'],
  ['/app%2Ejs', script, 'public/app.js'],
  ['/Photo.JPEG', 'image/jpeg', 'public/Photo.JPEG'],
  ['/unknown.xyz', 'application/octet-stream', 'public/unknown.xyz'],
  ['/with%20space%20&%20%C3%BC.txt', 'text/plain; charset=utf-8', 'public/with space & ü.txt'],
  ['/empty.txt', 'text/plain; charset=utf-8', 'public/empty.txt'],
  ['/big.bin', 'application/octet-stream', 'public/big.bin'],
  ['/sub/', html, 'public/sub/index.html'],
  ['/sub/page.html', html, 'public/sub/page.html'],
  ['/bare/file.txt', 'text/plain; charset=utf-8', 'public/bare/file.txt'],
  ['/link.js', script, 'public/app.js'],
] as const) {
  test(`${path} is served`, async () => {
    const response = await ask(path)
    const text = files[name] as string
    const { ETag, ...headers } = response.headers
    assert.equal(response.status, 200)
    assert.deepEqual(headers, {
      'Content-Type': type,
      'Content-Length': String(Buffer.byteLength(text)),
      'Last-Modified': 'Wed, 04 Mar 2026 05:06:07 GMT',
      'Cache-Control': 'no-cache',
      'Accept-Ranges': 'bytes',
    })
    assert.match(ETag ?? '', /^"[\da-f]+-[\da-f]+"$/)
    assert.equal(await textOf(response), text)
  })
}

for (const path of [
  '/nosuch.txt',
  '/.env',
  '/%2Eenv',
  '/.git/config',
  '/secrets/.htpasswd',
  '/../outside.txt',
  '/%2e%2e/outside.txt',
  '/..%2foutside.txt',
  '/sub/../../outside.txt',
  '/sub/..%5c..%5coutside.txt',
  '/./app.js',
  '//app.js',
  '/sub//page.html',
  '/app.js/',
  '/app.js%00.txt',
  '/app.js::$DATA',
  '/out.txt',
  '/env.txt',
  '/up/outside.txt',
  '/loop',
  '/bare',
  '/bare/',
  '/public-too/file.txt',
  '/../public-too/file.txt',
  '/%E0%A4%A',
  `/${'a'.repeat(5_000)}`,
]) {
  test(`${path.slice(0, 40)} is not found`, async () => {
    const response = await ask(path)
    assert.ok([400, 404].includes(response.status), String(response.status))
    assert.equal(response.stream, undefined)
    assert.equal(response.headers['Content-Type'], 'application/problem+json; charset=utf-8')
  })
}

describe('with models', () => {
  test('a model’s route wins', async () => {
    assert.equal((await ask('/pet')).headers['Content-Type'], undefined)
    assert.equal((await ask('/pet/7')).status, 404)
  })

  test('at /, a browser gets the page and a program the list', async () => {
    const page = await ask('/', { headers: { accept: 'text/html,*/*;q=0.8' } })
    assert.equal(await textOf(page), files['public/index.html'])
    const list = await ask('/')
    assert.ok(list.body)
  })

  test('files cannot be written, and are not served over sockets', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      assert.equal((await ask('/app.js', { method })).status, 404)
    const peer = { id: 'a', mirror: false, send: () => true, reset() {} }
    using _ = service.connect(peer)
    assert.equal((await ask('/app.js', { peer })).status, 404)
  })

  test('a query string is ignored', async () => {
    assert.equal((await ask('/app.js', { query: 'callback=not%20a%20function&v=3' })).status, 200)
  })
})

test('a folder without its slash is redirected to the URL with it', async () => {
  const response = await ask('/sub', { query: 'a=1', base: '/base' })
  assert.deepEqual([response.status, response.headers.Location], [301, '/base/sub/?a=1'])
})

describe('conditional requests', () => {
  for (const [what, headersOf, status] of [
    ['the same version', (tag: string) => ({ 'if-none-match': tag }), 304],
    ['the same version among others', (tag: string) => ({ 'if-none-match': `"x", W/${tag}` }), 304],
    ['another version', () => ({ 'if-none-match': '"x"' }), 200],
    [
      'another version, whatever its time',
      () => ({ 'if-none-match': '"x"', 'if-modified-since': changed.toUTCString() }),
      200,
    ],
    ['one of the same time', () => ({ 'if-modified-since': changed.toUTCString() }), 304],
    ['one of an earlier time', () => ({ 'if-modified-since': 'Wed, 04 Mar 2026 05:06:06 GMT' }), 200],
    ['one of no time at all', () => ({ 'if-modified-since': 'yesterday' }), 200],
  ] as const) {
    test(`${what}: ${status}`, async () => {
      const { ETag } = (await ask('/app.js')).headers
      const response = await ask('/app.js', { headers: headersOf(ETag as string) })
      assert.equal(response.status, status)
      assert.equal(response.headers.ETag, ETag)
      assert.equal(await textOf(response), status === 304 ? '' : 'run()')
    })
  }
})

describe('a part of a file', () => {
  const parts: readonly (readonly [range: string, status: number, text: string, contentRange?: string])[] = [
    ['bytes=0-2', 206, 'run', 'bytes 0-2/5'],
    ['bytes=3-', 206, '()', 'bytes 3-4/5'],
    ['bytes=-2', 206, '()', 'bytes 3-4/5'],
    ['bytes=-99', 206, 'run()', 'bytes 0-4/5'],
    ['bytes=0-0, -99', 206, 'run()', 'bytes 0-4/5'],
    ['bytes=0-99', 206, 'run()', 'bytes 0-4/5'],
    ['bytes=0-0,1-2', 206, 'run', 'bytes 0-2/5'],
    ['bytes=0-0,4-4', 200, 'run()'],
    ['bytes=5-', 416, '', 'bytes */5'],
    ['bytes=-0', 416, '', 'bytes */5'],
    ['lines=0-2', 200, 'run()'],
    ['lines=5-', 200, 'run()'],
    ['bytes=a', 200, 'run()'],
  ]
  for (const [range, status, text, contentRange] of parts) {
    test(`${range}: ${status}`, async () => {
      const response = await ask('/app.js', { headers: { range } })
      assert.deepEqual(
        [response.status, await textOf(response), response.headers['Content-Range']],
        [status, text, contentRange],
      )
    })
  }

  test('is the whole file when the file is another version', async () => {
    const { ETag = '' } = (await ask('/app.js')).headers
    const partOf = async (version: string) =>
      textOf(await ask('/app.js', { headers: { range: 'bytes=0-2', 'if-range': version } }))
    assert.deepEqual([await partOf(ETag), await partOf('"other"')], ['run', 'run()'])
    assert.equal(await partOf(changed.toUTCString()), 'run')
  })
})

describe('compression', () => {
  const cases: readonly (readonly [path: string, accepted: string | undefined, encoding: string | undefined])[] = [
    ['/large.css', 'gzip, deflate, br', 'gzip'],
    ['/large.css', 'gzip;q=0.5, identity;q=0.1', 'gzip'],
    ['/large.css', 'gzip;q=0', undefined],
    ['/large.css', 'br', undefined],
    ['/large.css', undefined, undefined],
    ['/app.js', 'gzip', undefined],
    ['/big.bin', 'gzip', undefined],
  ]
  for (const [path, accepted, encoding] of cases) {
    test(`${path} with ${accepted}: ${encoding}`, async () => {
      const response = await ask(path, { headers: { 'accept-encoding': accepted } })
      assert.equal(response.headers['Content-Encoding'], encoding)
      assert.equal(response.headers.Vary, path === '/large.css' ? 'Accept-Encoding' : undefined)
      const chunks: Uint8Array[] = []
      for await (const chunk of response.stream ?? []) chunks.push(chunk as Uint8Array)
      const content = Buffer.concat(chunks)
      const text = (encoding === 'gzip' ? gunzipSync(content) : content).toString()
      assert.equal(text, files[`public${path}`])
      const known = { 'accept-encoding': accepted, 'if-none-match': response.headers.ETag }
      assert.equal((await ask(path, { headers: known })).status, 304)
    })
  }

  test('a part is not compressed, and its version is not that of the compressed file', async () => {
    const whole = await ask('/large.css', { headers: { 'accept-encoding': 'gzip' } })
    const part = await ask('/large.css', { headers: { 'accept-encoding': 'gzip', range: 'bytes=0-9' } })
    assert.equal(part.headers['Content-Encoding'], undefined)
    assert.equal((await textOf(part)).length, 10)
    assert.notEqual(part.headers.ETag, whole.headers.ETag)
  })
})

test('a file that is replaced before it is sent is not sent', async () => {
  const path = join(root, 'swapped.txt')
  writeFileSync(path, 'harmless')
  const response = await ask('/swapped.txt')
  rmSync(path)
  symlinkSync(join(folder, 'outside.txt'), path)
  await assert.rejects(textOf(response), { code: 'ELOOP' })
  rmSync(path)
  writeFileSync(path, 'harmless')
  const second = await ask('/swapped.txt')
  writeFileSync(path, 'longer than before')
  await assert.rejects(textOf(second), /changed after it was found/)
  rmSync(path)
})

test('a pipe is not opened', { skip: process.platform === 'win32' && 'Windows has no pipes in folders' }, async () => {
  assert.equal(spawnSync('mkfifo', [join(root, 'pipe')]).status, 0)
  assert.equal((await ask('/pipe')).status, 404)
})

test('a file without read permission is not found', {
  skip: process.getuid?.() === 0 && 'root may read anything',
}, async () => {
  const path = join(root, 'closed.txt')
  writeFileSync(path, 'secret')
  chmodSync(path, 0)
  assert.equal((await ask('/closed.txt')).status, 404)
})

test('a missing folder is a ConfigError that names it', async () => {
  const models = { pet: { attributes: {} } }
  for (const wrong of [join(folder, 'nosuch'), join(root, 'app.js')]) {
    await assert.rejects(
      openService({ database: 'memory:', models, public: wrong }),
      (error: Error) => error.name === 'ConfigError' && error.message.includes(wrong),
    )
  }
})
