import { setTimeout } from 'node:timers/promises'
import { createService } from '../../src/index.ts'
import { models, ruledModels } from './models.ts'
import { type Period, Turns } from './turns.ts'

/** `node server.ts DATABASE PORT RULED_PORT [stacks]`; without ports it only creates the tables. */
const [database = '', port, ruledPort, stacks] = process.argv.slice(2)
const service = await createService({ database, models, shapes: '/v1/shape', onError: () => {} })
if (port !== undefined) await service.listen(Number(port), '127.0.0.1')
/** The same tables with access rules, for requests that are made for them. */
const ruled = await createService({ database, models: ruledModels, onError: () => {} })
if (ruledPort !== undefined) await ruled.listen(Number(ruledPort), '127.0.0.1')
const turns = new Turns(stacks !== undefined)
await turns.start()

const stop = (): void => void Promise.all([service.close(), ruled.close()]).finally(() => process.exit())
process.on('disconnect', stop)
process.on('message', async (message) => {
  if (message === 'stop') return stop()
  if (message === 'pid') return process.send?.(process.pid)
  if (message === 'longest turn') return process.send?.(await turns.longest())
  if (typeof message === 'object') return process.send?.(await turns.longest(message as Period))
  // V8 keeps the pages of collected objects for later ones; this collection returns them to the system after some time.
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  await setTimeout(500)
  process.send?.(process.memoryUsage())
})
process.send?.('ready')
