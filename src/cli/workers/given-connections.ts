import type { ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import type { ConnectionMessage } from './messages.ts'

/** The end of an IPC channel: a child process, or this process as one. */
export type ChannelEnd = Required<Pick<ChildProcess, 'send'>>

/** Past these, the process at the other end does not keep up. A system may allow 1,024 file descriptors, of which these are half. */
const maxGiven = 500
const maxGivenBytes = 67_108_864

/** Of `node:net`, which documents none of it. */
interface Handle {
  /** May be called again. */
  close(): void
}

/**
 * Connections on their way to another process. Node passes them on one at a time, each after the other process has confirmed the one
 * before, and would keep any number of them with what was read from them, also when that process has ended.
 */
export class GivenConnections {
  readonly #channel: ChannelEnd
  /** With the bytes of the message. */
  readonly #given = new Map<Handle, number>()
  #bytes = 0
  /** The one that was sent last. Node closes it when the other process has confirmed it, which one that has ended does not. */
  #sent: Handle | undefined

  constructor(channel: ChannelEnd) {
    this.#channel = channel
  }

  /** One too many is closed: its client connects again. */
  give(message: ConnectionMessage, connection: Socket): void {
    const bytes = message.received.length
    const isTooMany = this.#given.size >= maxGiven || this.#bytes + bytes > maxGivenBytes
    const handle = isTooMany ? null : takeHandle(connection)
    connection.destroy()
    if (handle === null) return
    this.#given.set(handle, bytes)
    this.#bytes += bytes
    this.#channel.send(message, unread(handle), {}, (error) => {
      this.#delete(handle)
      if (error) handle.close()
      else this.#sent = handle
    })
  }

  /** When the other process has ended. */
  clear(): void {
    this.#sent?.close()
    for (const handle of [...this.#given.keys()]) {
      handle.close()
      this.#delete(handle)
    }
  }

  #delete(handle: Handle): void {
    this.#bytes -= this.#given.get(handle) ?? 0
    this.#given.delete(handle)
  }
}

/** Leaves `connection` as a socket that is closed. Null: it is. */
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
