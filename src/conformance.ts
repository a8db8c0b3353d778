/**
 * The suites that say what Keelson is, as data that any test runner can run.
 *
 * `storageConformance` is for whoever writes a store: give each case a store over `zoo` whose tables are empty.
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
 * `serviceConformance` is for whoever carries requests another way, or serves them from another place: give each
 * scenario something that answers requests for a service over `zoo` with the scenario's `settings`, and no records.
 *
 * ```ts
 * for (const { name, settings, needs = [], run } of serviceConformance) {
 *   test(name, { skip: needs.includes('bytes') }, async () => {
 *     const service = await createService({ ...settings, models: zoo, database: 'memory:' })
 *     await run({ request: (method, path, given) => askOverMyTransport(service, method, path, given) })
 *     await service.close()
 *   })
 * }
 * ```
 *
 * Everything throws an AssertionError of `node:assert` when a promise is not kept.
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

/** The models of the zoo as stores see them. Made anew for each store: what is kept by a model is kept as long as it. */
export const zooModels = (): Models => defineModels(zoo as ModelDefinitions)
