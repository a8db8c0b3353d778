import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

/** A model that is not part of any recording. A client that receives its `created` event has received all earlier events. */
export const markModel = { mark: { attributes: {} } } as const

/** Time for a message without an acknowledgement to arrive. No later message marks its arrival. */
const arrivalMs = 100
const timeoutMs = 10_000

/**
 * Replays the recorded conversations with the service at `base` through the real client, and writes the messages to `file`.
 * Recorded pauses are not repeated: each step ends with a mark, and the messages before it are complete.
 */
export async function recordSockets(folder: string, base: string, file: string): Promise<void> {
  // The recorder reads both when it is loaded. Its pauses are not needed, and its client is one of our dependencies.
  Object.assign(process.env, { SETTLE_MS: '0', SAILS_MODULES: clientModules() })
  const load = (name: string) => import(pathToFileURL(join(folder, name)).href)
  const [{ scenarios }, { SocketRun }, { makeClient, wipe }] = await Promise.all(
    ['socket-scenarios.mjs', 'socket-run.mjs', 'lib.mjs'].map(load),
  )
  const http = makeClient(base)

  class MarkedRun extends SocketRun {
    constructor() {
      super({ base, client: { ...http, send: (...request: unknown[]) => this.marked(http.send(...request)) } })
    }

    async connect(name: string, options?: object) {
      const box = await super.connect(name, options)
      const { sock } = box
      const request = sock.request.bind(sock)
      await new Promise((resolve) => request({ method: 'get', url: '/mark?limit=0' }, resolve))
      sock.request = (asked: object, answered?: (...answer: unknown[]) => void) =>
        request(asked, answered && (async (...answer: unknown[]) => answered(...(await this.marked(answer)))))
      return box
    }

    async settle() {
      await sleep(arrivalMs)
      await this.marked(undefined)
    }

    /** Resolves with the given value after every client has received all events up to then. */
    async marked<T>(given: Promise<T> | T): Promise<T> {
      const result = await given
      if (this.clients.size === 0) return result
      const { id } = JSON.parse((await http.send('POST', '/mark', {})).text)
      const isMark = ({ event, payload }: ReceivedEvent) => event === 'mark' && payload.id === id
      const hasMark = ({ events }: Box) => events.some(isMark)
      const deadline = performance.now() + timeoutMs
      while (![...this.clients.values()].every(hasMark)) {
        if (performance.now() > deadline) throw new Error('a client did not receive the mark in time')
        await sleep(1)
      }
      for (const box of this.clients.values()) box.events.splice(box.events.findIndex(isMark), 1)
      return result
    }
  }

  const conversations: Record<string, object> = {}
  for (const { name, run } of scenarios) {
    await wipe(http)
    const conversation = new MarkedRun()
    await run(conversation)
    await conversation.finish()
    conversations[name] = { steps: conversation.steps }
  }
  http.close()
  writeFileSync(file, JSON.stringify({ scenarios: conversations }))
}

interface ReceivedEvent {
  readonly event: string
  readonly payload: { readonly id?: unknown }
}
interface Box {
  readonly events: readonly ReceivedEvent[]
}

/** A `node_modules` folder in which the client of Sails finds the version of socket.io-client that it was made for. */
function clientModules(): string {
  const { resolve } = createRequire(import.meta.url)
  const modules = join(mkdtempSync(join(tmpdir(), 'recorded-')), 'node_modules')
  mkdirSync(modules)
  for (const [name, ours] of [
    ['sails.io.js', 'sails.io.js'],
    ['socket.io-client', 'socket.io-client-2'],
  ] as const) {
    symlinkSync(dirname(resolve(`${ours}/package.json`)), join(modules, name))
  }
  return modules
}
