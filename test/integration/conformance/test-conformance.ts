import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Scenario, Settings } from '../../../src/conformance/scenario.ts'
import { serviceConformance } from '../../../src/conformance/scenarios.ts'
import { zoo } from '../../../src/conformance/zoo.ts'
import { createService } from '../../../src/index.ts'
import type { DatabaseKind, TestDatabase } from '../../support/databases.ts'
import type { OpenApi, Transport, ZooService } from './transports.ts'

/** Models that required associations refer to come last. */
const emptiedInOrder = [
  'feeding',
  'ticket',
  'shift',
  'team',
  'animal',
  'keeper',
  'enclosure',
  'visit',
  'specimen',
  'reading',
  'order',
  'chart',
]

interface LooseRecords {
  find(): Promise<{ readonly data: readonly { readonly id?: string; readonly code?: string }[] }>
  destroy(id: string | undefined): Promise<unknown>
}

async function empty({ system }: ZooService): Promise<void> {
  const records = system.records as Readonly<Record<string, LooseRecords>>
  for (const name of emptiedInOrder) {
    const { find, destroy } = records[name] as LooseRecords
    for (;;) {
      const { data } = await find()
      if (data.length === 0) break
      for (const { id, code } of data) await destroy(id ?? code)
    }
  }
}

/** All scenarios of a transport share one socket, which a fast machine would find too fast. */
const unhurried = { maxMessagesPerSecond: 1_000_000 }

function testScenarios(
  settings: Settings,
  scenarios: readonly Scenario[],
  database: () => TestDatabase,
  transports: readonly Transport[],
): void {
  const reported: unknown[] = []
  let service: ZooService
  before(async () => {
    const onError = (error: unknown) => reported.push(error)
    const limits = { ...unhurried, ...settings.limits }
    service = await createService({ ...settings, limits, models: zoo, database: database().url, onError })
  })
  after(() => service.close())

  for (const transport of transports) {
    describe(transport.name, () => {
      let api: OpenApi
      before(async () => {
        api = await transport.open(service)
      })
      after(() => api.close())
      for (const { name, needs = [], run } of scenarios) {
        const lacking = needs.find((need) => transport.lacks.includes(need))
        const skip = lacking !== undefined && `${transport.name} cannot carry ${lacking}`
        test(name, { skip }, async () => {
          await empty(service)
          reported.length = 0
          await run(api)
          assert.deepEqual(reported, [], 'no scenario may cause an internal error')
        })
      }
    })
  }
}

/** Scenarios with the same settings share a service; services share the database one after another. */
const bySettings = Map.groupBy(serviceConformance, ({ settings = {} }) => JSON.stringify(settings))

/** Declares the tests of every scenario on one database over each of the transports. */
export function testConformance(database: DatabaseKind, transports: readonly Transport[]): void {
  describe(database.name, { skip: database.missing ?? false }, () => {
    let opened: TestDatabase
    before(async () => {
      opened = await database.open()
    })
    after(() => opened[Symbol.asyncDispose]())
    for (const [text, scenarios] of bySettings) {
      describe(`settings ${text}`, () => testScenarios(JSON.parse(text), scenarios, () => opened, transports))
    }
  })
}
