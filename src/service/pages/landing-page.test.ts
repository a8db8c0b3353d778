import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { TurnCounter } from '../../../test/support/turn-counter.ts'
import { createService } from '../../index.ts'
import type { AnyConfig } from '../config/config.ts'

const models = {
  owner: {
    primaryKey: 'code',
    attributes: { code: { type: 'string', required: true }, pets: { collection: 'pet', via: 'owner' } },
  },
  pet: {
    attributes: {
      name: { type: 'string', required: true, minLength: 9 },
      kind: { type: 'string', required: true, isIn: ["it's a cat", '<script>'] },
      weight: { type: 'number', required: true, min: 3 },
      chip: { type: 'string', unique: true, regex: /<b>&"/ },
      note: { type: 'string', defaultsTo: '"><img src=x>' },
      email: { type: 'string', required: true, isEmail: true },
      bornAt: { type: 'datetime', required: true },
      owner: { model: 'owner', required: true },
    },
  },
} as const

async function open(config: Partial<AnyConfig> = {}) {
  const service = await createService({ models, database: 'sqlite::memory:', ...config } as AnyConfig)
  after(() => service.close())
  return service
}

const page = async (config?: Partial<AnyConfig>, headers: Record<string, string> = {}) => {
  const service = await open(config)
  const response = await service.fetch(
    new Request('http://localhost:1337/', { headers: { accept: 'text/html', ...headers } }),
  )
  return { response, html: await response.text() }
}

describe('the landing page', () => {
  const accepts: readonly (readonly [accept: string | undefined, query: string, type: string])[] = [
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', '', 'text/html; charset=utf-8'],
    ['text/html', '?from=mail', 'text/html; charset=utf-8'],
    ['*/*', '', 'application/json; charset=utf-8'],
    ['application/json', '', 'application/json; charset=utf-8'],
    [undefined, '', 'application/json; charset=utf-8'],
  ]
  for (const [accept, query, type] of accepts) {
    test(`is ${type} for ${accept ?? 'no Accept header'} ${query}`, async () => {
      const service = await open()
      const headers = accept === undefined ? {} : { accept }
      const response = await service.fetch(new Request(`http://localhost/${query}`, { headers }))
      assert.equal(response.status, 200)
      assert.equal(response.headers.get('content-type'), type)
      assert.equal(response.headers.get('vary'), 'Accept')
    })
  }

  test('is JSON for a JSONP request, whatever Accept says', async () => {
    const service = await open()
    const headers = { accept: 'text/html' }
    const response = await service.fetch(new Request('http://localhost/?callback=show', { headers }))
    assert.doesNotMatch(await response.text(), /<html/)
  })

  test('loads no other resource', async () => {
    const { response, html } = await page()
    const policy = response.headers.get('content-security-policy') ?? ''
    const inline: readonly (readonly [element: string, directive: string])[] = [
      ['script', 'script-src'],
      ['style', 'style-src'],
    ]
    for (const [element, directive] of inline) {
      const [, text = ''] = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(html) ?? []
      assert.ok(policy.includes(`${directive} 'sha256-${hash('sha256', text, 'base64')}'`), directive)
    }
    assert.match(policy, /^default-src 'none';/)
    assert.doesNotMatch(policy, /unsafe/)
    assert.doesNotMatch(html, /<(?:img|iframe|object)|@import|url\(|<[^>]* src=| on\w+=|href="(?![#.]|data:)/)
    assert.equal(html.match(/<script/g)?.length, 1)
  })

  test('has a title and an icon, and links the pages of the public folder', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'keelson-landing-page-'))
    writeFileSync(join(folder, 'live.html'), 'live')
    writeFileSync(join(folder, 'live #2.html'), 'live')
    const { html } = await page({ public: folder })
    assert.match(html, /<title>Keelson data service at localhost<\/title>/)
    assert.match(html, /<link rel="icon" href="data:image\/svg\+xml,/)
    assert.match(html, /Live page: <a href="\.\/live\.html">live\.html<\/a>/)
    assert.match(html, /<a href="\.\/live%20%232\.html">live #2\.html<\/a>/)
    rmSync(folder, { recursive: true })
  })

  test('escapes texts of the models', async () => {
    const { html } = await page()
    assert.match(html, /one of it&#39;s a cat, &lt;script&gt;/)
    assert.match(html, /matches \/&lt;b&gt;&amp;&quot;\//)
    assert.match(html, /&quot;\\&quot;&gt;&lt;img src=x&gt;&quot; by default/)
  })

  test('links models, their records and their associations', async () => {
    const { html } = await page({ prefix: '/api', pluralize: true })
    assert.match(html, /<section id="pet"/)
    assert.match(html, /href="\.\/api\/pets"/)
    assert.match(html, /one <a href="#owner">owner<\/a>/)
    assert.match(html, /many <a href="#pet">pet<\/a>/)
  })

  const hosts: readonly (readonly [headers: Record<string, string>, origin: string])[] = [
    [{ host: 'api.example:8080' }, 'http://api.example:8080'],
    [{ host: '[::1]:1337' }, 'http://[::1]:1337'],
    [{ host: 'api.example', 'x-forwarded-proto': 'https' }, 'https://api.example'],
    [{ host: "x'; rm -rf ~; '" }, 'http://localhost'],
    [{ host: '"><b>' }, 'http://localhost'],
  ]
  for (const [headers, origin] of hosts) {
    test(`names ${origin} where the host is ${headers.host}`, async () => {
      const { handle } = await open()
      const request = {
        method: 'GET',
        path: '/',
        query: '',
        headers: { accept: 'text/html', ...headers },
        site: 'none',
      } as const
      const { encoded } = (await handle(request)).body as { readonly encoded: string }
      assert.ok(encoded.includes(`<code>curl &#39;${origin}/pet?limit=5&#39;</code>`))
    })
  }

  test('answers HEAD with the headers of GET, and refuses other methods', async () => {
    await using server = await (await open()).listen(0)
    const headers = { accept: 'text/html' }
    const get = await fetch(server.url, { headers })
    const head = await fetch(server.url, { method: 'HEAD', headers })
    assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(await get.text())))
    assert.equal(await head.text(), '')
    const post = await fetch(server.url, { method: 'POST' })
    assert.equal(post.status, 405)
    assert.equal(post.headers.get('allow'), 'GET, HEAD, OPTIONS')
  })

  test('can be turned off', async () => {
    assert.equal((await page({ landingPage: false })).response.status, 404)
  })
})

test('the JSON list has the models and routes, without table and column names', async () => {
  const service = await open({ prefix: '/api' })
  const list = (await (await service.fetch(new Request('http://localhost/'))).json()) as {
    readonly models: readonly {
      readonly name: string
      readonly routes: readonly string[]
      readonly attributes: readonly object[]
    }[]
  }
  assert.deepEqual(
    list.models.map(({ name }) => name),
    ['owner', 'pet'],
  )
  assert.ok(list.models[0]?.routes.includes('PATCH /api/owner/:code'))
  assert.deepEqual(list.models[0]?.attributes[0], {
    name: 'code',
    type: 'text',
    required: true,
    nullable: false,
    unique: false,
    automatic: false,
    rules: {},
  })
  assert.doesNotMatch(JSON.stringify(list), /table|column/i)
})

const hasCurl = spawnSync('curl', ['--version']).status === 0

describe('the curl examples work', { skip: !hasCurl && 'curl is not installed' }, () => {
  const members = ['Its pets', 'Its owner']
  const kinds: readonly { what: string; config: Partial<AnyConfig> }[] = [
    { what: 'over REST', config: {} },
    { what: 'by shortcuts only', config: { rest: false, prefix: '/api' } },
  ]
  for (const { what, config } of kinds) {
    test(what, async () => {
      const service = await open(config)
      await using server = await service.listen(0)
      const html = await (await fetch(server.url, { headers: { accept: 'text/html' } })).text()
      const lines = [...html.matchAll(/<li><span>([^<]+)<\/span><code>([^<]+)<\/code>/g)].map(
        ([, does, line]) => [unescaped(does as string), unescaped(line as string)] as const,
      )
      assert.deepEqual(
        lines.map(([does]) => does),
        members.flatMap((its) => ['Find', 'Find one', its, 'Create', 'Update', 'Destroy']),
      )
      // A record is created before it is found, and destroyed after those that require it.
      const named = (name: string) => lines.filter(([does]) => does === name)
      const others = lines.filter(([does]) => does !== 'Create' && does !== 'Destroy')
      const ordered = [...named('Create'), ...others, ...named('Destroy').reverse()]
      const ran: (readonly [string, number])[] = []
      for (const [does, line] of ordered) ran.push([does, await statusOf(line)])
      const expected = ordered.map(([does]) => [does, does === 'Create' ? 201 : 200])
      assert.deepEqual(ran, expected)
    })
  }
})

const unescaped = (text: string): string =>
  text
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')

/** Runs a line in a shell. */
async function statusOf(line: string): Promise<number> {
  const shown = line.replace(/^curl /, 'curl -s -o /dev/null -w "%{http_code}" ')
  const { stdout } = await promisify(execFile)('sh', ['-c', shown])
  return Number(stdout)
}

test('the landing page lists actions, of models and of the service', async () => {
  const run = () => 1
  const config = {
    models: {
      pet: {
        attributes: {},
        actions: {
          adopt: { on: 'record', run, description: 'Gives <it> away' },
          sum: { on: 'model', method: 'GET', run },
        },
      },
      owner: { attributes: {} },
    },
    actions: { ping: { on: 'service', run } },
  } as const
  const { html } = await page(config)
  assert.match(html, /<th scope="row">adopt<\/th><td>POST \/pet\/:id\/adopt<\/td><td>Gives &lt;it&gt; away<\/td>/)
  assert.match(html, /<th scope="row">sum<\/th><td>GET \/pet\/sum<\/td>/)
  assert.equal(html.split('<summary>Actions').length, 2)
  const service = await open(config)
  const list = (await (await service.fetch(new Request('http://localhost/'))).json()) as { actions: readonly string[] }
  assert.deepEqual(list.actions, ['POST /ping'])
})

test('pages that many clients request at once are made in several turns of the event loop', async () => {
  const service = await open()
  using counter = new TurnCounter()
  const turns = new Set<number>()
  const request = () =>
    service.fetch(new Request('http://localhost:1337/', { headers: { accept: 'text/html' } })).then(() => {
      turns.add(counter.turn)
    })
  await Promise.all(Array.from({ length: 500 }, request))
  assert.ok(turns.size > 2, `they were made in ${turns.size} turns`)
})
