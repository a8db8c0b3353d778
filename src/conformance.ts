/**
 * A published test kit (`keelson/conformance`): the conformance suites as data that any test runner can run.
 *
 * `storageConformance` is for authors of stores: give each case a store over `zoo` whose tables are empty.
 *
 * ```ts
 * import { test } from 'node:test'
 * import { storageConformance, zooModels } from 'keelson/conformance'
 *
 * for (const { name, needs, run } of storageConformance) {
 *   test(name, { skip: needs && `there is no ${needs}` }, async () => {
 *     const models = zooModels()
 *     await using store = await openMyStore(models) // on an empty database
 *     await run({ store, models })
 *   })
 * }
 * ```
 *
 * `serviceConformance` is for authors of transports and integrations: give each
 * scenario an `Api` for a service over `zoo` with the scenario's `settings` and no records.
 *
 * ```ts
 * for (const { name, settings, needs = [], run } of serviceConformance) {
 *   test(name, { skip: needs.includes('bytes') }, async () => {
 *     const service = await createService({ ...settings, models: zoo, database: 'memory:' })
 *     await run({ request: (method, path, given) => requestOverMyTransport(service, method, path, given) })
 *     await service.close()
 *   })
 * }
 * ```
 *
 * `run` throws an AssertionError of `node:assert` when a requirement is not met.
 */
import { zoo } from './conformance/zoo.ts'
import { defineModels } from './model/define.ts'
import type { ModelDefinitions } from './model/definition.ts'
import type { Models } from './model/model.ts'

export type { Answer, Api, Given, Need, Scenario, Settings } from './conformance/scenario.ts'
export { serviceConformance } from './conformance/scenarios.ts'
export { storageConformance } from './conformance/storage.ts'
export type { StorageCase, StorageUnderTest } from './conformance/storage-case.ts'
export type { Models } from './model/model.ts'
export type { Store } from './storage/store.ts'
export { zoo }

/** The zoo models as stores receive them. Call it once per store: caches are keyed by model. */
export const zooModels = (): Models => defineModels(zoo as ModelDefinitions)
