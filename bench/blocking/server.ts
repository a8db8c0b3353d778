import { createService } from '../../src/index.ts'
import { models } from './models.ts'
import { Turns } from './turns.ts'

/** `node server.ts DATABASE PORT [stacks]`; without a port it only creates the tables. */
const [database = '', port, stacks] = process.argv.slice(2)
const service = await createService({ database, models, shapes: '/v1/shape', onError: () => {} })
if (port !== undefined) await service.listen(Number(port), '127.0.0.1')
const turns = new Turns(stacks !== undefined)
await turns.start()

const stop = (): void => void service.close().finally(() => process.exit())
process.on('disconnect', stop)
process.on('message', async (message) => {
  if (message === 'stop') return stop()
  if (message === 'pid') return process.send?.(process.pid)
  if (message === 'longest turn') return process.send?.(await turns.longest())
  globalThis.gc?.()
  globalThis.gc?.()
  process.send?.(process.memoryUsage())
})
process.send?.('ready')
