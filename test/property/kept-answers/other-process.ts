import { setTimeout as wait } from 'node:timers/promises'
import { openService } from '../../../src/service/open-service.ts'
import { Random } from '../../support/random.ts'
import { config, requestOf, told, type User } from './models.ts'
import { openSql, randomWriteWithNewName, serviceProgram, sqlProgram, type Write } from './writes.ts'

/*
 * A process of its own on the same file: `other-process.ts PATH service|sql`. It answers each message of its parent with one.
 */

/** What the parent asks for. */
export type Task =
  | { readonly do: 'write'; readonly write: Write }
  /** So many, with short pauses. */
  | { readonly do: 'write on'; readonly count: number; readonly seed: number }
  | { readonly do: 'tell'; readonly question: string; readonly user: User }

const [path = '', kind] = process.argv.slice(2)
const by = kind === 'service' ? 'service' : 'sql'
const service = by === 'service' ? await openService(config(path)) : undefined
const write = service ? serviceProgram(service) : sqlProgram(openSql(path))

async function perform(task: Task): Promise<unknown> {
  switch (task.do) {
    case 'write':
      return void (await write(task.write))
    case 'write on': {
      const random = new Random(task.seed)
      for (let count = 0; count < task.count; count++) {
        await write(randomWriteWithNewName(random, by))
        await wait(random.below(20))
      }
      return
    }
    case 'tell':
      return service && (await told(service, requestOf(task.question, task.user)))
  }
}

process.on('message', (task: Task) => {
  perform(task).then(
    (result) => process.send?.({ result }),
    (error) => process.send?.({ error: String(error) }),
  )
})
// Its parent has gone.
process.on('disconnect', () => process.exit())
process.send?.({ result: 'ready' })
