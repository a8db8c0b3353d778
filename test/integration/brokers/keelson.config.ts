import { defineConfig } from 'keelson'

/*
 * A service whose poll for writes of other programs waits for an hour, so that only a message tells of them; with POLL=1 it
 * polls as usual.
 */

const pollMs = 1_000
const { BROKER: broker, POLL } = process.env
const { setInterval } = globalThis
if (POLL !== '1')
  globalThis.setInterval = ((work: () => void, ms: number) =>
    setInterval(work, ms === pollMs ? 3_600_000 : ms)) as typeof globalThis.setInterval

export default defineConfig({
  ...(broker !== undefined && { broker }),
  models: {
    owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
    pet: { attributes: { name: { type: 'string' }, owner: { model: 'owner' } } },
  },
})
