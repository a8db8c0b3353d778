import { createService } from '../../../src/index.ts'
import { models } from './models.ts'

/*
 * `node server.ts DATABASE`: the service under attack, in a process of its own. It samples the CPU time of its main
 * thread at every turn of the event loop: the longest turn is the time for which one request held all others, whatever
 * else the machine does.
 */
const [database = ''] = process.argv.slice(2)
const service = await createService({
  models,
  database,
  attributes: { createdAt: false, updatedAt: false },
  // Errors of the service are failures; the parent sees them as statuses of 500.
  onError: (error) => console.error(error),
  limits: { statementTimeoutMs: 5_000 },
})
const { url } = await service.listen(0)

let longestTurnMs = 0
let last = process.threadCpuUsage()
const sample = () => {
  const { user, system } = process.threadCpuUsage(last)
  last = process.threadCpuUsage()
  longestTurnMs = Math.max(longestTurnMs, (user + system) / 1000)
  setTimeout(sample, 1)
}
sample()

process.on('message', () => {
  process.send?.({ longestTurnMs })
  longestTurnMs = 0
})
process.on('disconnect', () => process.exit())
process.send?.({ url })
