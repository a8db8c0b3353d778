import { after, before, beforeEach } from 'node:test'
import type { HttpServer } from '../../../src/index.ts'
import type { DatabaseKind, TestDatabase } from '../../support/databases.ts'
import { openShop, overHttp, type Send, type Shop, Sockets } from './shop.ts'

export const transports = ['http', 'socket'] as const
export type Transport = (typeof transports)[number]

/** The stock of each product before a test. */
export const initialStock = { Rex: 5, Secret: 1 }

/** The shop on a database, for the tests of one suite: with the same products and no sales before each of them. */
export class ServedShop {
  shop!: Shop
  server!: HttpServer
  sockets!: Sockets
  /** What was reported to the log during the test. */
  readonly errors: unknown[] = []
  #database!: TestDatabase

  constructor(kind: DatabaseKind) {
    before(() => this.#open(kind))
    after(() => this.#close())
    beforeEach(() => this.#reset())
  }

  get records(): Shop['system']['records'] {
    return this.shop.system.records
  }

  send(transport: Transport): Send {
    return transport === 'http' ? overHttp(this.server.url) : this.sockets.send
  }

  /** The stock of each product, by name. */
  async stock(): Promise<Readonly<Record<string, number>>> {
    const { data } = await this.records.product.find({ sort: 'id' })
    return Object.fromEntries(data.map(({ name, stock }) => [name, stock]))
  }

  async #open(kind: DatabaseKind): Promise<void> {
    this.#database = await kind.open()
    this.shop = await openShop(this.#database.url, this.errors)
    this.server = await this.shop.listen(0)
    this.sockets = new Sockets(this.server.url)
  }

  async #close(): Promise<void> {
    this.sockets[Symbol.dispose]()
    await this.server.stop()
    await this.shop.close()
    await this.#database[Symbol.asyncDispose]()
  }

  async #reset(): Promise<void> {
    this.errors.length = 0
    const { product, sale } = this.records
    for (const { id } of (await sale.find({ limit: 1000 })).data) await sale.destroy(id)
    for (const { id } of (await product.find({ limit: 1000 })).data) await product.destroy(id)
    await product.create({ id: 1, name: 'Rex', stock: 5, cost: 3 })
    await product.create({ id: 2, name: 'Secret', stock: 1, open: false })
  }
}
