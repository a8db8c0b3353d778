import type { ConnectBroker } from './broker.ts'

/** An attempt fails after this time. */
const connectTimeoutMs = 5_000

/** Loads `redis`. */
export async function connectRedis(): Promise<ConnectBroker> {
  const { createClient } = await load()
  return async (url, { channel, received, lost }) => {
    const publisher = createClient({
      url,
      disableOfflineQueue: true,
      socket: { reconnectStrategy: false, connectTimeout: connectTimeoutMs },
    })
    // A connection with subscriptions publishes nothing, so there are two.
    const subscriber = publisher.duplicate()
    const both = [publisher, subscriber]
    const close = async () => {
      for (const client of both) if (client.isOpen) client.destroy()
    }
    for (const client of both) client.on('error', lost).on('end', () => lost(new Error('disconnected')))
    try {
      await Promise.all(both.map((client) => client.connect()))
      await subscriber.subscribe(channel, received)
    } catch (error) {
      await close()
      throw error
    }
    return { publish: (message) => publisher.publish(channel, message), close }
  }
}

async function load() {
  try {
    return await import('redis')
  } catch (error) {
    throw new Error('A broker at redis:// needs the package "redis": npm install redis', { cause: error })
  }
}
