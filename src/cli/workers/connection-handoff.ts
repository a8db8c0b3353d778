import type { ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import type { ConnectionMessage } from './messages.ts'

/** The end of an IPC channel: a child process, or this process as one. */
export type ChannelEnd = Required<Pick<ChildProcess, 'send'>>

/** Above these, the other process does not keep up. A system may allow 1,024 file descriptors, of which these are half. */
const maxPending = 500
const maxPendingBytes = 67_108_864

/** The internal handle of a socket of `node:net`, which is not documented. */
interface Handle {
  /** May be called again. */
  close(): void
}

/**
 * Sends connections to another process. Node passes them on one at a time, each after the other process has confirmed the one
 * before, and would keep any number of them with what was read from them, also when that process has ended.
 */
export class ConnectionHandoff {
  readonly #channel: ChannelEnd
  /** The connections that Node has not sent yet, each with the number of bytes of its message. */
  readonly #pending = new Map<Handle, number>()
  #bytes = 0
  /** The last one that was sent. Node closes it when the other process confirms it, which a process that has ended does not. */
  #sent: Handle | undefined

  constructor(channel: ChannelEnd) {
    this.#channel = channel
  }

  /** Above the limits, the connection is closed instead: its client connects again. */
  send(message: ConnectionMessage, connection: Socket): void {
    const bytes = Buffer.byteLength(message.received, 'base64')
    const isTooMany = this.#pending.size >= maxPending || this.#bytes + bytes > maxPendingBytes
    const handle = isTooMany ? null : takeHandle(connection)
    connection.destroy()
    if (handle === null) return
    this.#pending.set(handle, bytes)
    this.#bytes += bytes
    this.#channel.send(message, unread(handle), {}, (error) => {
      this.#delete(handle)
      if (error) handle.close()
      else this.#sent = handle
    })
  }

  /** Closes the connections that the other process has not received. To be called when it has ended. */
  clear(): void {
    this.#sent?.close()
    for (const handle of [...this.#pending.keys()]) {
      handle.close()
      this.#delete(handle)
    }
  }

  #delete(handle: Handle): void {
    this.#bytes -= this.#pending.get(handle) ?? 0
    this.#pending.delete(handle)
  }
}

/** Takes the handle of a connection, which is a closed socket afterwards. Null if it was closed before. */
function takeHandle(connection: Socket): Handle | null {
  const socket = connection as unknown as { _handle: Handle | null }
  const handle = socket._handle
  socket._handle = null
  return handle
}

/**
 * The connection as one that this process does not read any more. Node would go on reading it until the other process has confirmed
 * it, and discard what it reads: the other process may have answered by then, and the client have sent its next message.
 */
const unread = (handle: Handle): Socket => new Socket({ handle, pauseOnCreate: true } as object)
