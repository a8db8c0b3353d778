import { setTimeout as wait } from 'node:timers/promises'
import { ImageJudge } from '../../src/access/image-judge.ts'
import { createService, type RuleOutcome } from '../../src/index.ts'
import { print, printRow } from '../print.ts'

const listenerCount = 10_000
const ruleCount = 100
const changeCount = 200

interface ListeningUser {
  readonly rule: number
}

/** Rules on a record's own attributes, of several shapes and with different values: no two of them are the same. */
const shapes: readonly ((value: number) => RuleOutcome)[] = [
  (value) => ({ weight: { '<': value } }),
  (value) => ({ or: [{ owner: value }, { weight: { '>': 50 + value } }] }),
  (value) => ({ owner: value, note: { '!=': null } }),
  (value) => ({ not: { owner: { '!=': value } } }),
]

/**
 * Counts what a change costs when many listen whose rules differ: how often a rule is evaluated, and how many statements
 * are run, beside the statements of the same changes while one listener without rules receives them.
 */
export async function listeners(database: string): Promise<void> {
  let statements = 0
  await using service = await createService({
    database,
    auth: { identify: (): ListeningUser | null => null },
    models: {
      pet: {
        access: { read: ({ user }) => user !== null && (shapes[user.rule % shapes.length]?.(user.rule) ?? false) },
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
    ['created', (number) => pet.create({ weight: number % 90, owner: number % ruleCount, note: 'new' })],
    ['updated, as rules compare', (number) => pet.update(id, { weight: number % 90 })],
    ['updated, otherwise', (number) => pet.update(id, { note: `note ${number}` })],
    ['destroyed', async () => pet.destroy((await pet.find({ sort: 'id DESC', limit: 1 })).data[0]?.id ?? 0)],
  ]
  const measured = async () => {
    const figures: { rules: number; images: number; statements: number; received: number; cpuMs: number }[] = []
    for (const [, change] of changes) {
      const before = { ...evaluations, statements, received, cpu: process.cpuUsage(), seen }
      for (let number = 0; number < changeCount; number++) await change(number)
      while (seen < before.seen + changeCount) await wait(10)
      const { user, system } = process.cpuUsage(before.cpu)
      figures.push({
        rules: (evaluations.rules - before.rules) / changeCount,
        images: (evaluations.images - before.images) / changeCount,
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
      listen(service.as({ rule: number % ruleCount }).records.pet.live(), () => received++),
    ),
  )
  const figures = await measured()
  print(
    `\n${database.split(':')[0]}: ${listenerCount} listeners of ${ruleCount} rules on own attributes, for each change`,
  )
  printRow(['', 'rules', 'images', 'statements', 'no rules', 'events', 'CPU ms'])
  for (const [index, [title]] of changes.entries()) {
    const { rules, images, statements, received, cpuMs } = figures[index] as (typeof figures)[number]
    const cells = [rules, images, statements, alone[index]?.statements ?? 0, received].map((figure) =>
      figure.toFixed(1),
    )
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

/**
 * A rule is evaluated for a change: for the image of the record before it, and for the one after it unless the change left
 * what the rule compares as it was.
 */
function countEvaluations(): { rules: number; images: number } {
  const counted = { rules: 0, images: 0 }
  let last: unknown
  const { decide } = ImageJudge.prototype
  let depth = 0
  ImageJudge.prototype.decide = function (...input) {
    if (depth++ === 0) {
      counted.images++
      if (input[0] !== last) counted.rules++
      last = input[0]
    }
    try {
      return decide.apply(this, input)
    } finally {
      depth--
    }
  }
  return counted
}
