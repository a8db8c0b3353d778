import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { openService } from '../../../src/service/open-service.ts'
import { Random } from '../../support/random.ts'
import { newFile } from '../../support/sqlite.ts'
import { type Fault, plant } from './faults.ts'
import { config, fill, questions, requestOf, told, users } from './models.ts'
import { OtherProcess } from './processes.ts'
import { countRepeated } from './repeated.ts'
import { serviceProgram } from './writes.ts'

export interface Outcome {
  readonly again: number
  /** Answers between two equal ones of the service that keeps nothing. */
  readonly compared: number
}

/**
 * Questions while a service and a program write in processes of their own, without waiting for one another. Each write leaves a
 * name that was never there, so an answer between two equal ones of the service that keeps nothing must be the same.
 */
export async function runBesideWriters(writes: number, seed: number, fault?: Fault, ask = requestOf): Promise<Outcome> {
  const random = new Random(seed)
  const path = newFile()
  await using keeping = await openService(config(path))
  await using fresh = await openService({ ...config(path), cache: false })
  await fill(keeping)
  await using otherService = await OtherProcess.start(path, 'service')
  await using otherProgram = await OtherProcess.start(path, 'sql')
  using planted = plant(fault)
  using repeated = countRepeated()
  const write = serviceProgram(fresh)
  let isOver = false
  const writing = Promise.all([otherService.writeOn(writes, seed), otherProgram.writeOn(writes, seed + 1)]).finally(
    () => {
      isOver = true
    },
  )
  writing.catch(() => {})
  let compared = 0
  while (!isOver) {
    const [question, user] = [random.pick(questions), random.pick(users)]
    // What is asked three times is kept.
    for (let repeat = 0; repeat < 4; repeat++) {
      const request = ask(question, user)
      const before = await told(fresh, request)
      const kept = await told(keeping, request)
      const after = await told(fresh, request)
      if (!isDeepStrictEqual(before, after)) continue
      compared++
      assert.deepEqual(kept, before, JSON.stringify(request))
    }
    if (random.chance(0.1)) {
      await write({ what: 'rename a pet', id: 1 + random.below(6), other: 1, name: `here ${random.next()}` })
      planted.ownWrite()
    }
    await new Promise(setImmediate)
  }
  await writing
  return { again: repeated.count, compared }
}
