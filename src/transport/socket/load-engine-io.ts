import { createRequire } from 'node:module'
import { eventLoopTurn } from '../../support/event-loop-turn.ts'

const require = createRequire(import.meta.url)

interface EngineIo {
  readonly Server: typeof import('engine.io').Server
  readonly WebSocketServer: typeof import('ws').WebSocketServer
}

/**
 * Loads `engine.io`, which takes four megabytes and 20 to 40 ms of processor time, in several turns of the event loop: a module is
 * loaded in one, with all that it requires and that is not loaded yet.
 */
export async function loadEngineIo(): Promise<EngineIo> {
  await eventLoopTurn.end()
  const { WebSocketServer } = require('ws') as EngineIo
  for (const part of largeParts) {
    await eventLoopTurn.end()
    loadPart(part)
  }
  await eventLoopTurn.end()
  const { Server } = require('engine.io') as EngineIo
  return { Server, WebSocketServer }
}

/** What the library requires, and takes the most time: `ws`, of which it may have a version of its own, and a list of all media types. */
const largeParts = ['ws', 'accepts']

function loadPart(name: string): void {
  try {
    createRequire(require.resolve('engine.io'))(name)
  } catch {
    // A later version of the library may do without it.
  }
}
