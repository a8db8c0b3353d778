import assert from 'node:assert/strict'
import { type OpenService, openService } from '../../../src/service/open-service.ts'
import { eventually } from '../../support/eventually.ts'
import { Random } from '../../support/random.ts'
import { newFile } from '../../support/sqlite.ts'
import { type Fault, plant } from './faults.ts'
import { type Any, config, fill, followed, questions, requestOf, type Told, told, type User, users } from './models.ts'
import { OtherProcess } from './processes.ts'
import { countRepeated } from './repeated.ts'
import { openSql, randomWrite, serviceProgram, sqlProgram, type Write } from './writes.ts'

export interface Outcome {
  /** Answers that were given again, without reading. */
  readonly again: number
  readonly compared: number
  /** Events that both services sent. */
  readonly events: number
}

/**
 * Questions are asked again and again between random writes of four services and programs, two of them in processes of their own.
 * Throws where a service that keeps answers says or tells something else than one that keeps nothing. `ask`: spells the questions.
 */
export async function run(rounds: number, seed: number, fault?: Fault, ask = requestOf): Promise<Outcome> {
  const random = new Random(seed)
  const path = newFile()
  await using keeping = await openService(config(path))
  await using fresh = await openService({ ...config(path), cache: false })
  using sql = openSql(path)
  await fill(keeping)
  await using otherService = await OtherProcess.start(path, 'service')
  await using otherProgram = await OtherProcess.start(path, 'sql')
  using planted = plant(fault)
  using repeated = countRepeated()
  const followers = [await follow(keeping), await follow(fresh)]
  const programs = [
    { name: 'this service', by: 'service', write: serviceProgram(keeping), isOwn: true },
    { name: 'a service of this process', by: 'service', write: serviceProgram(fresh), isOwn: true },
    { name: 'SQL in this process', by: 'sql', write: sqlProgram(sql), isOwn: false },
    { name: 'a service process', by: 'service', write: (write: Write) => otherService.write(write), isOwn: false },
    { name: 'another program', by: 'sql', write: (write: Write) => otherProgram.write(write), isOwn: false },
  ] as const
  const tags = new Map<string, string>()
  const done: string[] = []
  let compared = 0
  const same = (told: Told, expected: Told, what: string): void => {
    compared++
    assert.deepEqual(told, expected, `${what} after ${done.slice(-4).join(', ')}`)
  }
  for (let round = 0; round < rounds; round++) {
    for (let repeat = 0; repeat < 2; repeat++)
      for (const question of questions)
        for (const user of random.chance(0.5) ? users : [random.pick(users)]) {
          const place = JSON.stringify([question, user])
          const request = ask(question, user, random.chance(0.3) ? tags.get(place) : undefined)
          const [kept, read] = [await told(keeping, request), await told(fresh, request)]
          same(kept, read, place)
          if (kept.headers.ETag !== undefined) tags.set(place, kept.headers.ETag)
        }
    for (let count = 0; count < 6; count++) {
      const [question, user] = [random.pick(questions.slice(0, 6)), random.pick(users.slice(0, 3))]
      const read = await told(fresh, requestOf(question, user))
      same(await otherService.tell(question, user), read, `a service process: ${question}`)
    }
    const program = random.pick(programs)
    const write = randomWrite(random, program.by)
    await program.write(write)
    done.push(`${program.name}: ${write.what} ${write.id} ${write.other} ${write.name}`)
    // Rules of events are evaluated when they are sent: nothing may be written before both services have sent all.
    await (Object.fromEntries(fresh.records) as Any).mark.update(1, { name: `${round}` })
    if (program.isOwn) planted.ownWrite()
    for (const { reached } of followers) await eventually(() => reached(`${round}`))
  }
  const [kept, read] = followers.map(({ events }) => events)
  const counts = () => [kept, read].map((events) => events?.map(({ length }) => length).join())
  await eventually(() => new Set(counts()).size === 1).catch(() => {})
  assert.deepEqual(kept, read)
  return { again: repeated.count, compared, events: (read ?? []).reduce((sum, { length }) => sum + length, 0) }
}

/** All events of each user and model, as they are sent in order. */
async function follow(service: OpenService) {
  const marks = recordsOf(service, users[0]).mark.live()
  let mark = ''
  const begun = Promise.withResolvers<void>()
  void (async () => {
    for await (const { verb, data } of marks) {
      if (verb === 'ready') begun.resolve()
      mark = data?.name ?? mark
    }
  })()
  await begun.promise
  const events: Any[][] = []
  for (const user of users)
    for (const model of followed) {
      const told: Any[] = []
      events.push(told)
      const ready = Promise.withResolvers<void>()
      void (async () => {
        for await (const event of recordsOf(service, user)[model].live()) {
          if (event.verb === 'ready') ready.resolve()
          // It says that other records may be readable now; its position is where the service is when it says so.
          else if (event.verb === 'reset') told.push('reset')
          else told.push(event)
        }
      })()
      await ready.promise
    }
  return { events, reached: (wanted: string) => mark === wanted }
}

const recordsOf = (service: OpenService, user: User): Any =>
  Object.fromEntries(service.recordsFor({ kind: 'user', user: { id: 1, ...user } as Any }))
