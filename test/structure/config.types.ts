/*
 * Types of configurations and services. Nothing here runs: `tsc` checks it.
 */
import {
  type AttributeDefinitions,
  type Config,
  createService,
  defineConfig,
  type JsonObject,
  type ModelDefinitions,
  type RecordOf,
  type Records,
  type Registry,
  type Service,
} from '../../src/index.ts'
import type { Equal, Expect } from '../../src/model/inference/clinic.types.ts'

const config = defineConfig({
  attributes: { id: { type: 'string', isUUID: true }, tenant: { type: 'string', required: true }, createdAt: false },
  models: {
    owner: { attributes: { name: { type: 'string', required: true }, pets: { collection: 'pet', via: 'owner' } } },
    pet: {
      attributes: {
        name: { type: 'string', required: true, custom: (value) => value !== 'No' },
        owner: { model: 'owner' },
        tenant: false,
      },
    },
  },
  async seed({ system: { records } }, progress) {
    const { id } = await records.owner.create({ name: 'Ann', tenant: 'a' })
    await records.pet.create({ name: 'Rex', owner: id })
    // @ts-expect-error every owner has a tenant
    await records.owner.create({ name: 'Ann' })
    progress(1, 1)
  },
})
const plain = defineConfig({ models: { tag: { attributes: { label: { type: 'string' } } } } })

declare const loaded: Config
declare const models: ModelDefinitions
declare const attributes: AttributeDefinitions

export async function services(database: string) {
  const service = await createService(config)
  const again = await createService({ ...config, database })
  const direct = await createService({ models: { pet: { attributes: { name: { type: 'string' } } } } })
  const loose = await createService(loaded)
  const looser = await createService({ models, attributes, database })
  const pet = await service.system.records.pet.findOne('a', { populate: ['owner'] })
  const mine = await again.as(null).records.owner.related('a', 'pets')
  const created = await direct.system.records.pet.create({ name: 'Rex' })
  const any = await loose.system.records.whatever?.find({ where: { a: 1 } })
  const tag = await (await createService(plain)).system.records.tag.find()
  return { service, again, loose, looser, pet, mine, created, any, tag }
}
type Made = Awaited<ReturnType<typeof services>>

type Owner = { id: string; tenant: string; updatedAt: string; name: string }
type Pet = { id: string; updatedAt: string; name: string; owner: string | null }
type Models = Registry<typeof config.models, NonNullable<typeof config.attributes>>

export type Checks = [
  Expect<Equal<RecordOf<Models, 'owner'>, Owner>>,
  Expect<Equal<Made['service']['system']['records'], Records<Models>>>,
  Expect<Equal<Made['again'], Made['service']>>,
  Expect<Equal<Made['loose'], Service>>,
  Expect<Equal<Made['looser']['system']['records'], Records<ModelDefinitions>>>,
  Expect<Equal<Made['pet'], { id: string; updatedAt: string; name: string; owner: Owner | null } | undefined>>,
  Expect<Equal<Made['mine']['data'], Pet[]>>,
  Expect<Equal<Made['created']['name'], string | null>>,
  Expect<Equal<NonNullable<Made['any']>['data'], { [name: string]: JsonObject[string] }[]>>,
  Expect<Equal<Made['tag']['data'][number]['label'], string | null>>,
]

// ---- mistakes -----------------------------------------------------------------------------------------------------

defineConfig({
  models: {
    // @ts-expect-error no such model
    pet: { attributes: { owner: { model: 'owner' } } },
  },
})
defineConfig({
  models: {
    // @ts-expect-error no such attribute
    pet: { attributes: { name: { type: 'string', requird: true } } },
  },
})
// @ts-expect-error no such setting
defineConfig({ models: {}, databse: 'memory:' })
// @ts-expect-error no such type
defineConfig({ models: {}, attributes: { tenant: { type: 'text' } } })
// @ts-expect-error models are required
defineConfig({ database: 'memory:' })
export const wrong = () =>
  createService({
    models: {
      // @ts-expect-error no such model
      pet: { attributes: { owner: { model: 'owner' } } },
    },
  })
