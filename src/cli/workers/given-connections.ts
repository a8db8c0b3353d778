import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import type { ConnectionMessage } from './messages.ts'

/** The end of an IPC channel: a child process, or this process as one. */
export type ChannelEnd = Required<Pick<ChildProcess, 'send'>>

/** Past these, the process at the other end does not keep up. A system may allow 1,024 file descriptors, of which these are half. */
const maxGiven = 500
const maxGivenBytes = 67_108_864

/**
 * Connections on their way to another process. Node passes them on one at a time, each after the other process has confirmed the one
 * before, and would keep any number of them with what was read from them, also when that process has ended.
 */
export class GivenConnections {
  readonly #channel: ChannelEnd
  /** With the bytes of the message. */
  readonly #given = new Map<Socket, number>()
  #bytes = 0

  constructor(channel: ChannelEnd) {
    this.#channel = channel
  }

  /** One too many is closed: its client connects again. */
  give(message: ConnectionMessage, connection: Socket): void {
    const bytes = message.received.length
    if (this.#given.size >= maxGiven || this.#bytes + bytes > maxGivenBytes) return void connection.destroy()
    this.#given.set(connection, bytes)
    this.#bytes += bytes
    this.#channel.send(message, connection, {}, () => this.#close(connection))
  }

  /** When the other process has ended. */
  clear(): void {
    for (const connection of [...this.#given.keys()]) this.#close(connection)
  }

  #close(connection: Socket): void {
    connection.destroy()
    this.#bytes -= this.#given.get(connection) ?? 0
    this.#given.delete(connection)
  }
}
