import { setTimeout as wait } from 'node:timers/promises'
import { ShapeEvaluation } from '../../src/access/shape-evaluation.ts'
import { createService, type RuleOutcome } from '../../src/index.ts'
import { print, printRow } from '../print.ts'

const listenerCount = 10_000
const shapeCount = 100
const changeCount = 100

interface ListeningUser {
  readonly shape: number
  readonly value: number
}

const kinds: readonly ((value: number) => RuleOutcome)[] = [
  (value) => ({ weight: { '<': value } }),
  (value) => ({ or: [{ owner: value }, { weight: { '>': 50 + value } }] }),
  (value) => ({ owner: value, note: { '!=': null } }),
  (value) => ({ not: { owner: { '!=': value } } }),
]

/** Rules on a record's own attributes: a hundred shapes, each with a hundred values, so that no two are the same. */
const ruleOf = ({ shape, value }: ListeningUser): RuleOutcome => ({
  and: [
    kinds[shape % kinds.length]?.(value) ?? {},
    ...Array.from({ length: Math.floor(shape / kinds.length) }, () => ({ weight: { '>=': 0 } })),
  ],
})

/**
 * Counts what a change costs with many listeners whose rules differ: how often a rule is evaluated, and how many statements
 * are run, compared with the statements of the same changes for one listener without rules.
 */
export async function listeners(database: string): Promise<void> {
  let statements = 0
  await using service = await createService({
    database,
    auth: { identify: (): ListeningUser | null => null },
    models: {
      pet: {
        access: { read: ({ user }) => user !== null && ruleOf(user) },
        attributes: {
          weight: { type: 'number' },
          owner: { type: 'number' },
          note: { type: 'string' },
        },
      },
    },
    logger: {
      info() {},
      warn() {},
      error: (data) => print(String((data as { readonly err?: unknown }).err)),
      debug: (data) => {
        if ((data as { readonly kind?: string }).kind === 'statement') statements++
      },
    },
  })
  const { pet } = service.system.records
  const evaluations = countEvaluations()
  let seen = 0
  let received = 0
  await listen(pet.live(), () => seen++)

  const { id } = await pet.create({ weight: 0, owner: 1, note: 'first' })
  const changes: readonly (readonly [string, (number: number) => Promise<unknown>])[] = [
    ['created', (number) => pet.create({ weight: number % 90, owner: number % 100, note: 'new' })],
    ['updated, as rules compare', (number) => pet.update(id, { weight: number % 90 })],
    ['updated, otherwise', (number) => pet.update(id, { note: `note ${number}` })],
    ['destroyed', async () => pet.destroy((await pet.find({ sort: 'id DESC', limit: 1 })).data[0]?.id ?? 0)],
  ]
  const measured = async () => {
    const figures: { evaluations: number; statements: number; received: number; cpuMs: number }[] = []
    for (const [, change] of changes) {
      const before = { evaluations: evaluations.count, statements, received, cpu: process.cpuUsage(), seen }
      for (let number = 0; number < changeCount; number++) await change(number)
      while (seen < before.seen + changeCount) await wait(10)
      const { user, system } = process.cpuUsage(before.cpu)
      figures.push({
        evaluations: (evaluations.count - before.evaluations) / changeCount,
        statements: (statements - before.statements) / changeCount,
        received: (received - before.received) / changeCount,
        cpuMs: (user + system) / 1000 / changeCount,
      })
    }
    return figures
  }

  const alone = await measured()
  await Promise.all(
    Array.from({ length: listenerCount }, (_, number) =>
      listen(
        service.as({ shape: number % shapeCount, value: Math.floor(number / shapeCount) }).records.pet.live(),
        () => received++,
      ),
    ),
  )
  await pet.create({ weight: 0, owner: 1, note: 'first' }) // puts the rules into the index
  const figures = await measured()
  print(
    `\n${database.split(':')[0]}: ${listenerCount} listeners of ${shapeCount} rule shapes on own attributes, for each change`,
  )
  printRow(['', 'evaluations', 'statements', 'no rules', 'events', 'CPU ms'])
  for (const [index, [title]] of changes.entries()) {
    const { evaluations, statements, received, cpuMs } = figures[index] as (typeof figures)[number]
    const cells = [evaluations, statements, alone[index]?.statements ?? 0, received].map((figure) => figure.toFixed(1))
    printRow([title, ...cells, cpuMs.toFixed(2)])
  }
}

/** Resolves when the listener is ready; then it takes each event. */
function listen(events: AsyncIterable<{ readonly verb: string }>, take: () => void): Promise<void> {
  const ready = Promise.withResolvers<void>()
  void (async () => {
    for await (const { verb } of events) {
      if (verb === 'ready') ready.resolve()
      else if (verb !== 'restart') take()
    }
  })()
  return ready.promise
}

/** The conditions of a shape are evaluated together, for the record before a change and the one after it. */
function countEvaluations(): { readonly count: number } {
  const counted = { count: 0 }
  const { decide } = ShapeEvaluation.prototype
  ShapeEvaluation.prototype.decide = function (...input) {
    counted.count++
    return decide.apply(this, input)
  }
  return counted
}
