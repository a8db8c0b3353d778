import type { ConnectBroker } from './broker.ts'

/** An attempt fails after this time. */
const connectTimeoutMs = 5_000
/** Interval of the messages that detect a dead connection. */
const pingIntervalMs = 20_000

/** Loads `@nats-io/transport-node`. */
export async function connectNats(): Promise<ConnectBroker> {
  const { connect } = await load()
  return async (url, { channel, received, lost }) => {
    const { host, username, password } = new URL(url)
    const user = decodeURIComponent(username)
    const connection = await connect({
      servers: host,
      timeout: connectTimeoutMs,
      pingInterval: pingIntervalMs,
      reconnect: false,
      ignoreClusterUpdates: true,
      ...(password ? { user, pass: decodeURIComponent(password) } : user && { token: user }),
    })
    connection.subscribe(channel, { callback: (error, message) => (error ? lost(error) : received(message.string())) })
    void connection.closed().then((error) => lost(error ?? new Error('disconnected')))
    try {
      await connection.flush() // subscribed when the server answers
    } catch (error) {
      await connection.close().catch(() => {})
      throw error
    }
    return {
      publish: async (message) => connection.publish(channel, message),
      close: () => connection.close(),
    }
  }
}

async function load() {
  try {
    return await import('@nats-io/transport-node')
  } catch (error) {
    const text = 'A broker at nats:// needs the package "@nats-io/transport-node": npm install @nats-io/transport-node'
    throw new Error(text, { cause: error })
  }
}
