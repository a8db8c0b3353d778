import { defineConfig } from 'keelson'

/*
 * A service whose poll for writes of other programs waits for an hour, so that only a message tells of them.
 */

const pollMs = 1_000
const { setInterval } = globalThis
globalThis.setInterval = ((work: () => void, ms: number) =>
  setInterval(work, ms === pollMs ? 3_600_000 : ms)) as typeof globalThis.setInterval

const { BROKER: broker } = process.env

export default defineConfig({
  ...(broker !== undefined && { broker }),
  models: {
    owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
    pet: { attributes: { name: { type: 'string' }, owner: { model: 'owner' } } },
  },
})
