import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

/** A model that no recording knows. Whoever hears that one was created has heard all that came before. */
export const markModel = { mark: { attributes: {} } } as const

/** What a message without an answer may take to arrive. Nothing follows it that could be waited for. */
const arrivalMs = 100
const patienceMs = 10_000

/**
 * Has the recorded conversations with the service at `base`, by the real client, and writes what was said to `file`.
 * What is recorded as silence is not waited for: each step ends with a mark, and what came before it is all there is.
 */
export async function recordSockets(folder: string, base: string, file: string): Promise<void> {
  // Read when the module is: its own pauses are not needed, and its client is one of our dependencies.
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

    /** What is given, when everybody has heard all that happened until it was there. */
    async marked<T>(given: Promise<T> | T): Promise<T> {
      const result = await given
      if (this.clients.size === 0) return result
      const { id } = JSON.parse((await http.send('POST', '/mark', {})).text)
      const isMark = ({ event, payload }: Heard) => event === 'mark' && payload.id === id
      const hasHeard = ({ events }: Box) => events.some(isMark)
      const giveUpAt = performance.now() + patienceMs
      while (![...this.clients.values()].every(hasHeard)) {
        if (performance.now() > giveUpAt) throw new Error('not everybody heard what happened')
        await sleep(1)
      }
      for (const box of this.clients.values()) box.events.splice(box.events.findIndex(isMark), 1)
      return result
    }
  }

  const said: Record<string, object> = {}
  for (const { name, run } of scenarios) {
    await wipe(http)
    const conversation = new MarkedRun()
    await run(conversation)
    await conversation.finish()
    said[name] = { steps: conversation.steps }
  }
  http.close()
  writeFileSync(file, JSON.stringify({ scenarios: said }))
}

interface Heard {
  readonly event: string
  readonly payload: { readonly id?: unknown }
}
interface Box {
  readonly events: readonly Heard[]
}

/** A folder of modules where the client of the ancestor finds the library that it was made for by its own name. */
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
