import { action, createService, type ModelDefinitions } from '../../../src/index.ts'
import type { Json, JsonObject } from '../../../src/protocol/json.ts'

interface Search extends JsonObject {
  readonly model: string
}
interface Finder {
  find(criteria: JsonObject): Promise<{ readonly data: Json[] }>
}
type Finders = Readonly<Record<string, Finder>>

/*
 * `node server.ts DATABASE MODELS`: the service under attack, in a process of its own. It samples the CPU time of its main
 * thread at every turn of the event loop: the longest turn is the time for which one request held all others, whatever
 * else the machine does.
 */
const [database = '', models = ''] = process.argv.slice(2)
/** Reads as an application does. */
const search = action({
  on: 'service',
  transaction: false,
  input: { '~standard': { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) } },
  run: async ({ input, records }) => {
    const found: Json[] = []
    for (const { model, ...criteria } of input as readonly Search[])
      found.push((await ((records as unknown as Finders)[model] as Finder).find(criteria)).data)
    return found
  },
})
const service = await createService({
  models: JSON.parse(models) as ModelDefinitions,
  database,
  actions: { search },
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
