import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createService, type Service } from '../../src/index.ts'
import { EventLoopTurn } from '../../src/support/event-loop-turn.ts'
import { databaseNamed, type TestDatabase } from '../support/databases.ts'
import { TurnCounter } from '../support/turn-counter.ts'

/* What a batch, a list or a bulk change could cost others, or reach. */

const models = {
  owner: {
    attributes: {
      name: { type: 'string', required: true },
      extra: { type: 'json' },
      pets: { collection: 'pet', via: 'owner' },
    },
  },
  pet: { attributes: { name: { type: 'string' }, owner: { model: 'owner' } } },
} as const

const sqlite = databaseNamed('sqlite')

describe('batches of a hostile client', () => {
  let opened: TestDatabase
  let service: Service<typeof models>

  before(async () => {
    opened = await sqlite.open()
    service = await createService({ models, database: opened.url })
    await service.system.records.owner.create({ name: 'Ann' })
  })
  after(async () => {
    await service.close()
    await opened[Symbol.asyncDispose]()
  })

  async function send(path: string, body: string, headers = {}) {
    const request = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
    const response = await service.fetch(new Request(`http://localhost${path}`, request))
    const text = await response.text()
    return { status: response.status, text, body: text === '' ? undefined : JSON.parse(text) }
  }
  const batch = (items: readonly unknown[], query = '') => send(`/batch${query}`, JSON.stringify(items))
  const get = (url: string) => ({ method: 'GET', url })
  const unharmed = async () => {
    assert.deepEqual(
      (await service.system.records.owner.find()).data.map(({ name }) => name),
      ['Ann'],
    )
    assert.equal(({} as { polluted?: unknown }).polluted, undefined)
  }

  test('batches of reads at once are answered, and others read what is committed meanwhile', async () => {
    await service.system.records.owner.createMany(
      Array.from({ length: 300 }, (_, index) => ({ name: `${index}`, extra: index })),
    )
    const reads = JSON.stringify(Array.from({ length: 200 }, () => get('/owner?limit=300')))
    const answers = ['', '?atomic=false', '', '?atomic=false', '', ''].map((query) => send(`/batch${query}`, reads))
    await service.system.records.owner.destroyMany({ where: { id: { '>': 1 } } })
    assert.equal(await service.system.records.owner.count(), 1)
    for (const { status, text } of await Promise.all(answers)) assert.equal(status, 200, text.slice(0, 200))
    await unharmed()
  })

  test('each read has the cost limit of the read alone', async () => {
    const condition = { or: Array.from({ length: 400 }, (_, index) => ({ name: { contains: `${index}` } })) }
    const expensive = get(`/owner?where=${encodeURIComponent(JSON.stringify(condition)).slice(0, 16_000)}`)
    const answer = await batch([get('/owner'), expensive])
    assert.equal(answer.body[1].status, 400)
    for (const query of ['', '?atomic=false']) {
      const costly = get(
        `/owner?where={"or":[${Array.from({ length: 70 }, () => '{"name":{"contains":"a"}}').join()}]}`,
      )
      const { body } = await batch(
        Array.from({ length: 200 }, () => costly),
        query,
      )
      assert.ok(
        body.every(({ status }: { status: number }) => status >= 400),
        JSON.stringify(body[0]),
      )
    }
    await unharmed()
  })

  test('200 embedding reads are answered or refused, and the service goes on', async () => {
    const { status } = await batch(
      Array.from({ length: 200 }, () => get('/owner?populate={"pets":{"populate":"owner"}}')),
    )
    assert.equal(status, 200)
    await unharmed()
  })

  test('bodies beyond the limits are refused as a whole', async () => {
    const many = JSON.stringify(
      Array.from({ length: 5_000 }, () => ({ method: 'POST', url: '/owner', body: { name: 'x' } })),
    )
    assert.equal((await send('/batch', many)).body.code, 'E_BAD_REQUEST')
    assert.equal((await send('/batch', `[${'['.repeat(100)}${']'.repeat(100)}]`)).status, 400)
    const list = JSON.stringify(Array.from({ length: 20_000 }, () => ({ name: 'x' })))
    assert.equal((await send('/owner', list)).body.limit, 'maxAffected')
    assert.equal(
      (await send('/batch', JSON.stringify([{ method: 'POST', url: '/owner', body: { name: 'x'.repeat(1_100_000) } }])))
        .status,
      413,
    )
    await unharmed()
  })

  test('names of prototypes reach nothing', async () => {
    const first = { method: 'POST', url: '/pet', body: { name: 'Rex' } }
    for (const ref of ['0.__proto__.polluted', '0.constructor.prototype', '0.hasOwnProperty', '0.name.constructor']) {
      const answer = await batch([first, { method: 'POST', url: '/owner', body: { name: { $ref: ref } } }])
      assert.equal(answer.body[1].body.code, 'E_BAD_REQUEST')
    }
    const texts = [
      '[{"method":"POST","url":"/pet","body":{"name":"Rex"}},{"method":"POST","url":"/owner","body":{"name":"x","__proto__":{"$ref":"0.id"}}}]',
      '[{"__proto__":{"method":"POST"},"method":"POST","url":"/owner","body":{"name":"x"}}]',
      '[{"method":"POST","url":"/owner","body":{"name":"x"},"headers":{"__proto__":"x"}}]',
      '[{"method":"POST","url":"/owner/__proto__","body":{"name":"x"}}]',
    ]
    for (const text of texts) assert.ok((await send('/batch', text)).status >= 400, text)
    const stored = await send(
      '/batch',
      '[{"method":"POST","url":"/pet","body":{}},{"method":"POST","url":"/owner","body":{"name":"y","extra":{"__proto__":{"polluted":{"$ref":"0.id"}}}}}]',
    )
    assert.equal(stored.status, 200)
    assert.match(stored.text, /"__proto__":\{"polluted":\d+\}/)
    await service.system.records.owner.destroyMany({ where: { name: 'y' } })
    await unharmed()
  })

  test('a value in a URL cannot change the address', async () => {
    const made = await service.system.records.pet.create({ name: '../../owner/1?where={}&x=/#' })
    const answer = await batch([get(`/pet/${made.id}`), { method: 'DELETE', url: '/owner/$0.name' }])
    assert.equal(answer.status, 404)
    const query = await service.system.records.pet.create({ name: '1?select=id' })
    const other = await batch([get(`/pet/${query.id}`), { method: 'DELETE', url: '/owner/$0.name' }])
    assert.equal(other.status, 404)
    await unharmed()
  })

  test('nothing is executed where a request refers to a later one, or has an address that is too long', async () => {
    const first = { method: 'POST', url: '/owner', body: { name: 'x' } }
    for (const [item, code] of [
      [{ method: 'POST', url: '/owner', body: { name: { $ref: '1.name' } } }, 'E_BAD_BODY'],
      [get('/owner/$2.id'), 'E_BAD_BODY'],
      [get(`/owner?name=${'x'.repeat(20_000)}`), 'E_URL_TOO_LONG'],
      [{ ...get('/owner'), headers: { cookie: 'sid=ann' } }, 'E_BAD_BODY'],
    ] as const)
      for (const query of ['', '?atomic=false'])
        assert.equal((await batch([first, item, get('/owner')], query)).body.code, code)
    await unharmed()
  })

  describe('a request is not larger with the values that it refers to than without:', () => {
    const first = { method: 'POST', url: '/owner', body: { name: 'x', extra: 'x'.repeat(200_000) } }
    const refs = (count: number, of: string) => Array.from({ length: count }, () => ({ $ref: of }))
    const posts = (count: number, extra: (index: number) => unknown) =>
      Array.from({ length: count }, (_, index) => ({
        method: 'POST',
        url: '/owner',
        body: { name: 'y', extra: extra(index) },
      }))
    const wrapped = (value: unknown, levels: number): unknown => (levels === 0 ? value : [wrapped(value, levels - 1)])
    const cases: readonly (readonly [name: string, items: readonly object[], limit: string])[] = [
      // 5 GB, of 500 kB.
      ['one value, 25,000 times', [first, ...posts(1, () => refs(25_000, '0.extra'))], 'maxBodyBytes'],
      [
        'a value that is ten times as long each time',
        [first, ...posts(9, (index) => refs(10, `${index}.extra`))],
        'maxBodyBytes',
      ],
      [
        'a value that is nested deeper each time',
        [first, ...posts(9, (i) => wrapped({ $ref: `${i}.extra` }, 20))],
        'maxJsonDepth',
      ],
      [
        'a key in an answer of 1.8 MB',
        [first, ...posts(2, () => refs(4, '0.extra')), get('/owner?populate=false'), get('/owner/$3.0.id')],
        'maxBodyBytes',
      ],
      ['a URL', [first, { method: 'GET', url: `/owner?name=${'$0.extra'.repeat(1_000)}` }], 'maxUrlBytes'],
    ]
    for (const [name, items, limit] of cases)
      for (const atomic of [true, false])
        test(`${name}, ${atomic ? 'atomic' : 'each alone'}`, async () => {
          const answer = await send(`/batch?atomic=${atomic}`, JSON.stringify(items))
          const answers = JSON.parse(answer.text) as { status: number; body: { limit?: string } }[]
          const refused = answers.find(({ status }) => status >= 400 && status !== 424)
          assert.ok(refused && refused.status < 500, answer.text.slice(0, 500))
          assert.equal(refused.body.limit, limit)
          await service.system.records.owner.destroyMany({ where: { id: { '>': 1 } } })
          await unharmed()
        })
  })

  for (const atomic of [true, false])
    test(`the values of references are validated in a later turn than their answer is parsed, ${atomic ? 'atomic' : 'each alone'}`, async (t) => {
      using turns = new TurnCounter()
      let parsedIn: number | undefined
      let validatedIn: number | undefined
      const { parse } = JSON
      t.mock.method(JSON, 'parse', (text: string) => {
        if (text.startsWith('{"id"')) parsedIn = turns.turn
        return parse(text)
      })
      t.mock.getter(EventLoopTurn.prototype, 'isUsed', function (this: EventLoopTurn) {
        // Parsing has taken long. As it does, a look at the time schedules the end of the turn.
        return this.usedMs >= 0 && turns.turn === parsedIn
      })
      const custom = (value: unknown) => {
        if (JSON.stringify(value) === '{"copy":["long"]}') validatedIn = turns.turn
        return true
      }
      const data = { type: 'json', custom } as const
      await using validated = await createService({ models: { note: { attributes: { data } } }, database: 'memory:' })
      const body = [
        { method: 'POST', url: '/note', body: { data: ['long'] } },
        { method: 'POST', url: '/note', body: { data: { copy: { $ref: '0.data' } } } },
      ]
      const request = {
        method: 'POST',
        path: '/batch',
        query: `atomic=${atomic}`,
        body,
        headers: {},
        site: 'none',
      } as const
      assert.equal((await validated.handle(request)).status, 200)
      assert.equal(await validated.system.records.note.count(), 2)
      assert.ok(parsedIn !== undefined && validatedIn !== undefined)
      assert.ok(validatedIn > parsedIn)
    })

  test('answers have the limit of one answer together', async () => {
    await using limited = await createService({ models, database: 'memory:', limits: { maxAnswerBytes: 2_000 } })
    await limited.system.records.owner.create({ name: 'x'.repeat(1_000) })
    const items = Array.from({ length: 5 }, () => get('/owner/1'))
    for (const [query, statuses] of [
      ['', '424,400,424,424,424'],
      ['?atomic=false', '200,200,424,424,424'],
    ] as const) {
      const request = new Request(`http://localhost/batch${query}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(items),
      })
      const text = await (await limited.fetch(request)).text()
      assert.equal((JSON.parse(text) as { status: number }[]).map(({ status }) => status).join(), statuses)
      assert.match(text, /"limit":"maxAnswerBytes"/)
    }
  })

  test('pages of other sites cannot send one', async () => {
    const items = JSON.stringify([{ method: 'POST', url: '/owner', body: { name: 'x' } }])
    for (const site of ['cross-site', 'same-site']) {
      const headers = { 'sec-fetch-site': site, origin: 'https://evil.example' }
      assert.equal((await send('/batch', items, headers)).status, 403)
      assert.equal((await send('/batch?atomic=false', items, headers)).status, 403)
    }
    await unharmed()
  })

  test('many concurrent batches are answered, and their writes are whole', async () => {
    const one = Array.from({ length: 20 }, () => ({ method: 'POST', url: '/pet', body: { name: 'batch' } }))
    const failing = [...one, get('/nothing')]
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => batch(index % 2 === 0 ? one : failing)))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))].sort(), [200, 404])
    assert.equal(await service.system.records.pet.count({ where: { name: 'batch' } }), 400)
    await unharmed()
  })
})
