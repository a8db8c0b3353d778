import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Command, folder, root } from '../support/command.ts'
import { databases } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'

/* The example of orders, as its README shows it: started by the command line, over HTTP. */

const config = join(root, 'examples/orders/keelson.config.ts')
const hasCurl = spawnSync('curl', ['--version']).status === 0

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a test knows what it requested
  readonly body: any
}

class Shop {
  readonly cwd = folder()
  readonly #database: string
  readonly #mail = join(this.cwd, 'mail')
  #command: Command
  url = ''

  constructor(database: string) {
    this.#database = database
    this.#command = this.#start()
  }

  #start(): Command {
    const args = ['start', '--config', config, '--port', '0', '--database', this.#database]
    return new Command(args, { cwd: this.cwd, env: { MAIL_FOLDER: join(this.cwd, 'mail') } })
  }

  async ready(): Promise<void> {
    this.url = await this.#command.url()
  }

  async restart(signal: NodeJS.Signals): Promise<void> {
    this.#command.kill(signal)
    await this.#command.ended
    this.#command = this.#start()
    await this.ready()
  }

  async stop(): Promise<void> {
    this.#command.kill('SIGTERM')
    await this.#command.ended
  }

  async ask(user: string, method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(this.url + path, {
      method,
      headers: { Authorization: `Bearer ${user}`, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, body: await response.json() }
  }

  place = (user: string, product: number, quantity: number): Promise<Answer> =>
    this.ask(user, 'POST', '/order/place', { items: [{ product, quantity }] })

  /** The texts of the mails. */
  mails(): readonly string[] {
    if (!existsSync(this.#mail)) return []
    return readdirSync(this.#mail).map((file) => readFileSync(join(this.#mail, file), 'utf8'))
  }

  /** Waits until there is a mail for each of these orders, and returns the orders that mails confirm, sorted. */
  async confirmed(count: number): Promise<readonly number[]> {
    await eventually(() => this.mails().length >= count || undefined, `${count} mails`)
    return this.mails()
      .flatMap((text) => /Thank you for your order (\d+) /.exec(text)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b)
  }
}

// Opened here: a command is killed after the suite in which it was started, so it is started by the suite itself.
const opened = await Promise.all(
  databases
    .filter(({ name, missing }) => name !== 'memory' && missing === undefined)
    .map(async (kind) => ({ name: kind.name, database: await kind.open() })),
)

for (const { name, database } of opened)
  describe(`the orders example on ${name}`, () => {
    const shop = new Shop(database.url)
    const stock = async () => {
      const { body } = await shop.ask('demo-staff', 'GET', '/product?sort=id')
      return (body as readonly { stock: number }[]).map(({ stock }) => stock)
    }
    before(() => shop.ready())
    after(async () => {
      await shop.stop()
      await database[Symbol.asyncDispose]()
    })

    test('the requests of its README are answered as it says', { skip: !hasCurl && 'curl is not installed' }, () => {
      const page = readFileSync(join(root, 'examples/orders/README.md'), 'utf8')
      const commands = [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
        .flatMap(([, block = '']) => block.replaceAll('\\\n', '').split('\n'))
        .filter((line) => line.startsWith('curl '))
        .map((line) => line.replaceAll('http://localhost:1337', shop.url))
      const statuses = commands.map((command) => {
        const { stdout } = spawnSync('bash', ['-c', `${command} -s -o /dev/null -w '%{http_code}'`], {
          encoding: 'utf8',
        })
        return Number(stdout)
      })
      assert.deepEqual(statuses, [201, 409, 200, 200, 200, 200])
    })

    test('the cancelled order gave its items back, and has two mails', async () => {
      assert.deepEqual(await stock(), [10, 3, 12])
      assert.deepEqual(await shop.confirmed(2), [1])
      assert.ok(shop.mails().some((text) => /Your order 1 is cancelled/.test(text)))
      const { body } = await shop.ask('demo-staff', 'GET', '/audit?sort=id&select=user,record')
      const rows = (body as readonly { user: string; record: string }[]).map(({ user, record }) => `${user}: ${record}`)
      assert.deepEqual(rows, [
        ...[1, 2, 3].map((id) => `system: product ${id}`),
        ...['product 1', 'product 2', 'order 1', 'product 1', 'product 2', 'order 1'].map(
          (record) => `customer 1: ${record}`,
        ),
      ])
    })

    test('of thirty orders at once, no more are placed than there is stock; each has its audit rows and one mail', async () => {
      const users = ['demo-ann', 'demo-bob']
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, index) => shop.place(users[index % 2] as string, 2, 1)),
      )
      const placed = answers.filter(({ status }) => status === 201).map(({ body }) => body.id as number)
      assert.equal(placed.length, 3)
      for (const { status, body } of answers)
        if (status !== 201)
          assert.deepEqual([status, body.code, body.details], [409, 'OUT_OF_STOCK', { product: 2, left: 0 }])
      assert.deepEqual(await stock(), [10, 0, 12])
      assert.equal((await shop.ask('demo-staff', 'GET', '/item?product=2')).body.length, 4)
      const { body: rows } = await shop.ask('demo-staff', 'GET', '/audit?sort=id&skip=9&limit=100')
      assert.deepEqual(
        (rows as readonly { record: string }[]).map(({ record }) => record).sort(),
        ['product 2', 'product 2', 'product 2', ...placed.map((id) => `order ${id}`)].sort(),
      )
      assert.deepEqual(await shop.confirmed(5), [1, ...placed.sort((a, b) => a - b)])
    })

    test('users see and change what is theirs', async () => {
      const { body: order } = await shop.place('demo-ann', 3, 1)
      const cases: readonly (readonly [user: string, method: string, path: string, status: number])[] = [
        ['demo-bob', 'GET', `/order/${order.id}`, 404],
        ['demo-bob', 'POST', `/order/${order.id}/cancel`, 404],
        ['demo-staff', 'POST', '/order/place', 403],
        ['nobody', 'POST', '/order/place', 403],
        ['demo-ann', 'GET', '/audit', 403],
        ['demo-ann', 'GET', '/report', 403],
        ['demo-staff', 'POST', `/order/${order.id}/cancel`, 200],
        ['demo-ann', 'POST', `/order/${order.id}/cancel`, 409],
      ]
      for (const [user, method, path, status] of cases)
        assert.equal((await shop.ask(user, method, path)).status, status, `${user} ${method} ${path}`)
      assert.equal((await shop.ask('demo-ann', 'POST', '/order', { customer: 1, total: 0 })).status, 403)
      assert.equal((await shop.ask('demo-ann', 'PATCH', '/product/1', { stock: 99 })).status, 403)
    })

    test('the report has the orders that were not cancelled', async () => {
      const day = new Date().toISOString().slice(0, 10)
      const { body } = await shop.ask('demo-staff', 'POST', '/report/write', { day })
      assert.deepEqual([body.orders, body.revenue], [3, 600])
    })

    test('mails of orders whose process was killed are written by the next one', async () => {
      const placed = await shop.place('demo-ann', 1, 1)
      await shop.restart('SIGKILL')
      const confirmed = await eventually(async () => {
        const orders = await shop.confirmed(6)
        return orders.includes(placed.body.id) ? orders : undefined
      }, 'the mail of an order whose process was killed')
      assert.equal(new Set(confirmed).size, confirmed.length)
    })
  })
