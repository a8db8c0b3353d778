import { openService } from '../src/service/open-service.ts'

/*
 * What hooks add to one create, also those of another model, and a job of another model: services in one process, on the
 * memory store, which adds little of its own. Short rounds alternate; the figures are lower quartiles of the time of one
 * create, which other load of the machine disturbs least.
 *
 *   node bench/hooks.ts
 */
const attributes = {
  name: { type: 'string', required: true },
  slug: { type: 'string' },
  age: { type: 'number' },
} as const

// biome-ignore lint/suspicious/noExplicitAny: hooks are typed by their application
type Any = any
const variants: Readonly<Record<string, object | undefined>> = {
  'no hook': undefined,
  'before, synchronous': { before: { create: (values: Any) => ({ ...values, slug: values.name }) } },
  'before, asynchronous': { before: { create: async (values: Any) => ({ ...values, slug: values.name }) } },
  within: { within: { create: async () => {} } },
}
/** A model of its own, so that the service has hooks and the records that are created have none. */
const others: Readonly<Record<string, object>> = {
  'hooks of another model': {
    other: { attributes, hooks: { before: { update: () => {} }, within: { create: () => {} } } },
  },
  'a job of another model': { other: { attributes, on: { created: { name: 'mail', run: () => {} } } } },
}

const services = await Promise.all(
  [...Object.keys(variants), ...Object.keys(others)].map(async (name) => {
    const hooks = variants[name]
    const models: Any = { pet: { attributes, ...(hooks && { hooks }) }, ...others[name] }
    const service = await openService({ database: 'memory:', models })
    return { name, service, records: service.records.get('pet'), times: [] as number[] }
  }),
)
const rounds = 400
const creates = 100
for (let round = 0; round < rounds; round++) {
  for (const { records, times } of services) {
    const ids: Any[] = []
    const start = performance.now()
    for (let index = 0; index < creates; index++) ids.push((await records?.create({ name: 'Rex', age: 3 }))?.id)
    times.push(((performance.now() - start) * 1000) / creates)
    for (const id of ids) await records?.destroy(id)
  }
}
const quartile = (times: readonly number[]) =>
  [...times.slice(50)].sort((a, b) => a - b)[Math.floor((times.length - 50) / 4)] ?? 0
const [plain] = services
for (const { name, times, service } of services) {
  const added = quartile(times) - quartile(plain?.times ?? [])
  console.log(
    `${name.padEnd(24)} ${quartile(times).toFixed(2)} µs  ${name === 'no hook' ? '' : `${added < 0 ? '' : '+'}${added.toFixed(2)} µs`}`,
  )
  await service[Symbol.asyncDispose]()
}
