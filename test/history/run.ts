import { setTimeout as wait } from 'node:timers/promises'
import type { Connection } from './connection.ts'
import { type InProcess, openInProcess } from './in-process.ts'
import { listenByLoop } from './listen-by-loop.ts'
import { listenBySocket } from './listen-by-socket.ts'
import { listenByStream } from './listen-by-stream.ts'
import { Fences, fenceMark, Listener } from './listener.ts'
import { Marks } from './marks.ts'
import { modelNames, type Truth } from './models.ts'
import { type Outsider, openOutsider } from './outsider.ts'
import { Server } from './server.ts'
import type { Step, Treatment, Write } from './steps.ts'
import { Violation } from './view.ts'
import { Writer } from './writer.ts'

export interface History {
  readonly steps: number
  readonly writes: number
  readonly unknown: number
  readonly listeners: number
  readonly events: number
  /** How often what a listener held was compared with what was true. */
  readonly compared: number
}

/** Whoever has not heard within this time never will. */
const patienceMs = 20_000
/** More cost time and prove nothing. */
const mostListeners = 24

interface Present {
  readonly listener: Listener
  readonly by: 'stream' | 'socket' | 'loop'
  connection: Connection | undefined
  /** Where it goes on when it comes back. */
  position: string | undefined
  isStalled: boolean
}

/** Does one thing after another, and rejects when anything that was heard, answered or kept is not true. */
export async function run(
  database: string,
  servers: number,
  steps: readonly Step[],
  isBroken = false,
): Promise<History> {
  await using world = await World.open(database, servers)
  if (isBroken) await world.outsider.breakLog()
  for (const step of steps) {
    await world.take(step)
    world.check()
  }
  await world.finish()
  return world.history(steps.length)
}

class World implements AsyncDisposable {
  readonly outsider: Outsider
  readonly #servers: readonly Server[]
  readonly #inProcess: InProcess
  readonly #writer: Writer
  readonly #fences = new Fences()
  readonly #marks = new Marks()
  #present: Present[] = []
  readonly #all: Listener[] = []
  readonly #underWay = new Set<Promise<void>>()
  #failure: Error | undefined

  private constructor(servers: readonly Server[], inProcess: InProcess, outsider: Outsider) {
    this.#servers = servers
    this.#inProcess = inProcess
    this.outsider = outsider
    this.#writer = new Writer(servers, outsider, this.#marks)
  }

  static async open(database: string, count: number): Promise<World> {
    const inProcess = await openInProcess(database)
    const servers = Array.from({ length: count }, () => new Server(database))
    await Promise.all(servers.map((server) => server.start()))
    const world = new World(servers, inProcess, await openOutsider(database))
    await world.#writer.fill()
    // Somebody who is always there knows every mark that was ever written.
    for (const model of modelNames) {
      const witness = new Listener(`witness of ${model}`, { model, isHeavy: false }, world.#fences, world.#marks)
      await world.#add(witness, 'loop', 0)
    }
    return world
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case 'write':
        return this.#writer.write(step.write)
      case 'burst': {
        const writes = step.writes.map((write) => this.#writer.write(write))
        const along = step.writeAlong ? this.#writeAlong(step.writes[0] as Write) : []
        const burst = Promise.all([...writes, ...along, ...(step.findAgain ? this.#findAgain() : [])]).then(() => {})
        if (step.awaited) return burst
        return this.#leaveUnderWay(burst)
      }
      case 'listen': {
        const { by, server } = step
        if (this.#present.length >= mostListeners) return
        // A socket watches a model, whatever it has found.
        const watching = by === 'socket' ? { ...step.watching, isHeavy: false } : step.watching
        const what = `${watching.isHeavy ? 'heavy ' : ''}${watching.model}`
        return this.#add(new Listener(`${by} ${this.#all.length} of ${what}`, watching, this.#fences), by, server)
      }
      case 'leave':
      case 'cut':
      case 'resume':
      case 'stall':
      case 'go on':
        return this.#treat(step.do, step.which, step.server)
      case 'kill':
        return this.#serverOf(step.server).end('SIGKILL')
      case 'stop':
        return this.#serverOf(step.server).end('SIGTERM')
      case 'start':
        return this.#serverOf(step.server).start()
      case 'trim':
        return this.#inProcess.trim()
      case 'fence':
        return this.#fence()
    }
  }

  /** Throws what went wrong since it was asked last. */
  check(): void {
    const failure = this.#failure ?? this.#all.find(({ failure }) => failure)?.failure
    if (failure) throw failure
    this.#marks.check()
  }

  /** Everybody comes back and hears the rest, and nothing that was acknowledged is missing. */
  async finish(): Promise<void> {
    for (const server of this.#servers) await server.start()
    // What is under way may be waiting for an answer that somebody does not take.
    for (const present of this.#present) this.#stall(present, false)
    await Promise.all(this.#underWay)
    for (const [index, present] of this.#present.entries()) {
      // A trim may still tell some to start afresh.
      for (let tries = 0; tries < 5 && !present.connection; tries++) await this.#connect(present, index)
      if (!present.connection) throw new Violation(`${present.listener.name} cannot come back`)
    }
    await this.#fence()
    this.check()
    this.#marks.checkAll()
  }

  history(steps: number): History {
    return {
      steps,
      writes: this.#writer.done,
      unknown: this.#writer.unknown,
      listeners: this.#all.length,
      events: this.#all.reduce((sum, { events }) => sum + events, 0),
      compared: this.#all.reduce((sum, { compared }) => sum + compared, 0),
    }
  }

  #findAgain(): readonly Promise<void>[] {
    return this.#present.map(
      ({ connection, isStalled }) => (isStalled ? undefined : connection?.again?.()) ?? Promise.resolve(),
    )
  }

  #writeAlong(write: Write): readonly Promise<void>[] {
    const patches = this.#present.flatMap(({ connection, isStalled }) => (isStalled ? [] : (connection?.patch ?? [])))
    if (patches.length === 0) return []
    const by = (by: Write['by']) => this.#writer.write({ ...write, what: 'update pet', by })
    return [by('http'), ...patches.map((patch) => this.#writer.writeAlong(write, patch)), by('http'), by('outsider')]
  }

  #leaveUnderWay(burst: Promise<void>): void {
    const underWay = burst
      .catch((error: Error) => {
        this.#failure ??= error
      })
      .finally(() => this.#underWay.delete(underWay))
    this.#underWay.add(underWay)
  }

  #serverOf(number: number): Server {
    return this.#servers[number % this.#servers.length] as Server
  }

  async #add(listener: Listener, by: Present['by'], server: number): Promise<void> {
    const present: Present = {
      listener,
      by,
      connection: undefined,
      position: undefined,
      isStalled: false,
    }
    this.#present.push(present)
    this.#all.push(listener)
    await this.#connect(present, server)
  }

  async #connect(present: Present, server: number): Promise<void> {
    const { listener, by, position } = present
    listener.note(`connects to ${server}, behind ${position}`)
    try {
      const connection = await this.#open(listener, by, server, position)
      if (!connection) return
      present.connection = connection
      void connection.ended.then(
        () => this.#lost(present, connection),
        (error) => listener.fail(error),
      )
    } catch (error) {
      listener.fail(error) // nothing happens to a server meanwhile
    }
  }

  async #open(listener: Listener, by: Present['by'], server: number, position: string | undefined) {
    if (by === 'loop') return listenByLoop(listener, this.#inProcess, position)
    const { url } = this.#serverOf(server)
    if (url === undefined) return undefined
    return by === 'stream' ? listenByStream(listener, url, position) : listenBySocket(listener, url)
  }

  #lost(present: Present, connection: Connection): void {
    if (present.connection !== connection) return
    present.listener.note(`lost, behind ${connection.position}`)
    present.connection = undefined
    present.isStalled = false
    present.position = connection.position
  }

  async #treat(what: Treatment, which: number, server: number): Promise<void> {
    // Witnesses stay.
    const others = this.#present.slice(modelNames.length)
    const wanted = others.filter(({ connection, isStalled }) =>
      what === 'resume' ? !connection : connection && isStalled === (what === 'go on'),
    )
    const present = wanted[which % wanted.length]
    if (!present) return
    present.listener.note(what)
    switch (what) {
      case 'resume':
        return this.#connect(present, server)
      case 'stall':
        return this.#stall(present, true)
      case 'go on':
        return this.#stall(present, false)
      case 'leave':
        this.#present = this.#present.filter((other) => other !== present)
        present.connection?.cut()
        return
      case 'cut':
        present.connection?.cut()
        await present.connection?.ended
    }
  }

  #stall(present: Present, isStalled: boolean): void {
    if (present.isStalled !== isStalled) present.connection?.stall(isStalled)
    present.isStalled = isStalled
  }

  /** Whoever is connected and listens must hear of it, and hold what was true at that moment. */
  async #fence(): Promise<void> {
    const number = ++this.#fences.begun
    const marks = this.#marks.acknowledged()
    await this.outsider.fence(fenceMark(number), (truth: Truth) => this.#fences.set(number, truth))
    this.#fences.last = number
    const deadline = performance.now() + patienceMs
    for (const present of this.#present) {
      const { listener } = present
      while (present.connection && !present.isStalled && !listener.failure && !listener.hasPassed(number)) {
        const left = deadline - performance.now()
        if (left <= 0) throw new Violation(`${listener.name} has not heard of ${fenceMark(number)}`)
        await Promise.race([listener.change, wait(Math.min(left, 100))])
      }
    }
    this.#marks.mustBeHeard(marks)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { connection } of this.#present) connection?.cut()
    await this.#writer.close()
    await Promise.all(this.#servers.map((server) => server[Symbol.asyncDispose]()))
    await Promise.allSettled(this.#underWay)
    await this.#inProcess[Symbol.asyncDispose]()
    await this.outsider[Symbol.asyncDispose]()
  }
}
