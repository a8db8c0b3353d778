import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { EventVisibility } from '../../src/access/event-visibility.ts'
import { createService } from '../../src/index.ts'
import type { JsonObject } from '../../src/protocol/json.ts'
import type { Images, JudgedEvent, View } from '../../src/realtime/visibility.ts'
import { type DatabaseKind, databaseNamed, databases } from '../support/databases.ts'
import { eventually } from '../support/eventually.ts'
import { Random } from '../support/random.ts'
import { seed } from '../support/seed.ts'
import {
  type ChangedModel,
  changedModels,
  changedWorld,
  expectedEvents,
  firstNewId,
  type RowChange,
  randomChange,
} from './access/events.ts'
import { randomRules } from './access/generate.ts'
import { data, modelNames, modelsOf, openRules, setRules, stored, tagged } from './access/world.ts'

/*
 * Random rules and random writers. What a listener receives is what a plain reading of the rules says of the record before
 * and after each change. Where rules pass through associations, it may receive `reset` instead.
 */

const ruleSets = Number(process.env.KEELSON_TEST_RULES ?? 20)
const changesPerRuleSet = 15

type Live = AsyncIterableIterator<JsonObject> & AsyncDisposable
type Table = {
  create(values: object): Promise<unknown>
  update(id: number, values: object): Promise<unknown>
  destroy(id: number): Promise<unknown>
  add(id: number, name: string, child: number): Promise<unknown>
  live(): Live
}
type Tables = Readonly<Record<string, Table>>

interface Compared {
  changes: number
  events: number
  resets: number
}

async function compare(kind: Pick<DatabaseKind, 'open'>, random: Random): Promise<Compared> {
  await using opened = await kind.open()
  await using service = await createService({
    database: opened.url,
    attributes: { createdAt: false, updatedAt: false },
    auth: { identify: () => ({ id: 1 }) },
    models: { ...modelsOf(true, () => false), fence: { access: 'public', attributes: { number: { type: 'number' } } } },
  } as never)
  setRules(openRules)
  const records = service.system.records as unknown as Tables
  const table = (name: string): Table => records[name] as Table
  for (const model of modelNames) for (const row of data[model]) await table(model).create(row)
  for (const [pet, tag] of tagged) await table('pet').add(pet, 'tags', tag)
  await table('fence').create({ id: 1, number: 0 })

  let fences = 0
  const stopFence = await listen(table('fence').live(), () => fences++)
  /** All that was written before is delivered, as operations are delivered one after the other. */
  const delivered = async () => {
    const before = fences
    await table('fence').update(1, { number: before + 1 })
    await eventually(() => fences > before)
    await wait(0)
  }
  const compared: Compared = { changes: 0, events: 0, resets: 0 }
  let world = stored
  let nextId = firstNewId
  for (let number = 0; number < ruleSets; number++) {
    const isOwn = number % 3 !== 0
    const rules = randomRules(random, isOwn)
    setRules(rules)
    const asUser = service.as({ id: number } as never).records as unknown as Tables
    const received = new Map<ChangedModel, JsonObject[]>(changedModels.map((model) => [model, []]))
    const stops = await Promise.all(
      changedModels.map((model) =>
        listen((asUser[model] as Table).live(), (event) => received.get(model)?.push(event)),
      ),
    )
    const lost = new Set<ChangedModel>()
    for (let at = 0; at < changesPerRuleSet; at++) {
      const change = randomChange(random, world, nextId++)
      world = changedWorld(world, change)
      await write(table(change.model), change)
      await delivered()
      for (const model of changedModels) {
        const expected = expectedEvents(model, change, rules, world)
        const list = received.get(model) as JsonObject[]
        // A listener that has just begun may still read the log.
        for (let turn = 0; turn < 200 && list.length < expected.length && !lost.has(model); turn++) await wait(10)
        const actual = list.splice(0)
        if (lost.has(model)) continue
        if (!isOwn && actual.some(({ verb }) => verb === 'reset')) {
          lost.add(model)
          compared.resets++
          continue
        }
        const told = `a listener of ${model}, ${JSON.stringify(change)}\nrules ${JSON.stringify({ read: rules.read, attributes: rules.attributes })}`
        assert.deepEqual(actual, expected, told)
        compared.changes++
        compared.events += expected.length
      }
    }
    for (const stop of stops) await stop()
  }
  await stopFence()
  setRules(openRules)
  return compared
}

async function write(table: Table, { id, before, after }: RowChange): Promise<void> {
  const { label: _, rank: __, ...values } = after ?? {}
  await (after === undefined ? table.destroy(id) : before ? table.update(id, values) : table.create(values))
}

/** Resolves when the listener is ready, with what ends it. */
async function listen(events: Live, take: (event: JsonObject) => void): Promise<() => Promise<unknown>> {
  const ready = Promise.withResolvers<void>()
  void (async () => {
    for await (const { position: _, model: __, ...event } of events) {
      if (event.verb === 'ready') ready.resolve()
      else take(event as JsonObject)
    }
  })()
  await ready.promise
  return () => Promise.resolve(events.return?.())
}

for (const kind of databases) {
  test(`events are what the rules say of both images, on ${kind.name}`, { skip: kind.missing ?? false }, async (t) => {
    t.diagnostic(`KEELSON_TEST_SEED=${seed} KEELSON_TEST_RULES=${ruleSets}`)
    const { changes, events, resets } = await compare(kind, new Random(seed))
    t.diagnostic(`${changes} changes compared, of which listeners receive ${events} events, and ${resets} fresh starts`)
    assert.ok(events > changes / 4, 'the generator makes changes that are seen')
  })
}

/** What is seen of an event, changed by a fault. */
type Fault = (seen: Images, { images }: JudgedEvent) => Images

const faults: Readonly<Record<string, Fault>> = {
  'the rule is dropped where a record leaves the view': (seen, { images }) =>
    seen.before && !seen.after && images.after ? { before: seen.before, after: images.after } : seen,
  'the rule is dropped where a record enters the view': (seen, { images }) =>
    !seen.before && seen.after && images.before ? { before: images.before, after: seen.after } : seen,
  'the image before a change is not judged': (seen, { images }) => ({ ...seen, before: images.before }),
  'the image after a change is not judged': (seen, { images }) => ({ ...seen, after: images.after }),
  'rules of attributes are dropped': (seen, { images }) => ({
    before: seen.before && images.before,
    after: seen.after && images.after,
  }),
  'rules of attributes are dropped for the record before': (seen, { images }) => ({
    ...seen,
    before: seen.before && images.before,
  }),
  'the reference of a member is not judged': (seen, { event, images }) =>
    event.verb === 'addedTo' || event.verb === 'removedFrom' ? images : seen,
  'records that enter are not told of': (seen, { images }) => (images.before && !seen.before ? {} : seen),
}

describe('a fault is found', () => {
  const memory = databaseNamed('memory')
  for (const [title, fault] of Object.entries(faults)) {
    test(title, async (t) => {
      plant(t, fault)
      await assert.rejects(compare(memory, new Random(seed)), assert.AssertionError)
      setRules(openRules)
    })
  }
})

function plant(t: TestContext, fault: Fault): void {
  const { judge } = EventVisibility.prototype
  t.mock.method(
    EventVisibility.prototype,
    'judge',
    async function (this: EventVisibility, ...input: Parameters<typeof judge>) {
      const judged = await judge.apply(this, input)
      const [, events] = input
      const changed = [...judged].map(([view, all]): [View, readonly (Images | undefined)[]] => [
        view,
        all.map((seen, at) => seen && fault(seen, events[at] as JudgedEvent)),
      ])
      return new Map(changed)
    },
  )
}
