import { setTimeout as wait } from 'node:timers/promises'
import { plant } from '../../property/kept-answers/faults.ts'
import { type By, ConnectedListener, type Services } from './connected-listener.ts'
import { type ForeignWriter, openForeignWriter } from './foreign-writer.ts'
import { type InProcess, openInProcess } from './in-process.ts'
import { Fences, fenceMark, Listener } from './listener.ts'
import { Marks } from './marks.ts'
import { modelNames, type Truth } from './models.ts'
import { RepeatedReads } from './repeated-reads.ts'
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
  /** How often answers to what was asked for before were compared with the tables. */
  readonly reads: number
}

/** An event that has not arrived within this time is missing. */
const receiveTimeoutMs = 20_000
/** More cost time and prove nothing. */
const maxListeners = 24

/** What is broken on purpose. */
export type Fault = 'the order of the log' | 'events of leaving' | 'kept answers that miss commits'

export interface Settings {
  readonly servers: number
  /** Whether the listeners are users, whose rules decide what they read. */
  readonly isRuled: boolean
  readonly fault?: Fault | undefined
}

/** Does one thing after another, and rejects when anything that was received, answered or kept is not true. */
export async function run(database: string, steps: readonly Step[], settings: Settings): Promise<History> {
  using _planted = plant(
    settings.fault === 'kept answers that miss commits' ? 'writes of other programs are not seen' : undefined,
  )
  await using world = await World.open(database, settings)
  if (settings.fault === 'the order of the log') await world.foreignWriter.breakLog()
  for (const step of steps) {
    await world.take(step)
    world.check()
    await world.askAgain()
  }
  await world.finish()
  return world.history(steps.length)
}

class World implements AsyncDisposable {
  readonly foreignWriter: ForeignWriter
  readonly #settings: Settings
  readonly #servers: readonly Server[]
  readonly #inProcess: InProcess
  readonly #writer: Writer
  readonly #fences = new Fences()
  readonly #marks = new Marks()
  readonly #reads: RepeatedReads
  #listeners: ConnectedListener[] = []
  readonly #all: Listener[] = []
  readonly #underWay = new Set<Promise<void>>()
  #failure: Error | undefined

  private constructor(
    settings: Settings,
    servers: readonly Server[],
    inProcess: InProcess,
    foreignWriter: ForeignWriter,
  ) {
    this.#settings = settings
    this.#servers = servers
    this.#inProcess = inProcess
    this.foreignWriter = foreignWriter
    this.#writer = new Writer(servers, foreignWriter, this.#marks)
    this.#reads = new RepeatedReads(servers, inProcess, settings.isRuled)
  }

  static async open(database: string, settings: Settings): Promise<World> {
    const { isRuled } = settings
    const inProcess = await openInProcess(database, isRuled)
    const servers = Array.from({ length: settings.servers }, () => new Server(database, isRuled))
    await Promise.all(servers.map((server) => server.start()))
    const world = new World(settings, servers, inProcess, await openForeignWriter(database))
    await world.#writer.fill()
    // These are always connected, and receive every mark.
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
        // Users of rules only listen.
        const isAlong = !this.#settings.isRuled
        const along = step.writeOverListeners && isAlong ? this.#writeOverListeners(step.writes[0] as Write) : []
        const burst = Promise.all([...writes, ...along, ...(step.findAgain && isAlong ? this.#findAgain() : [])]).then(
          () => {},
        )
        if (step.awaited) return burst
        return this.#leaveUnderWay(burst)
      }
      case 'listen': {
        const { by, server } = step
        if (this.#listeners.length >= maxListeners) return
        // A socket watches a model, whatever it has found.
        const watching = by === 'socket' ? { ...step.watching, isHeavy: false } : step.watching
        const { user, isHeavy, model } = watching
        const what = `${isHeavy ? 'heavy ' : ''}${model}${user === undefined ? '' : ` as ${user}`}`
        const listener = new Listener(`${by} ${this.#all.length} of ${what}`, watching, this.#fences)
        listener.ignoresLeaving = this.#settings.fault === 'events of leaving'
        return this.#add(listener, by, server)
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

  /** Throws what went wrong since it was planned last. */
  check(): void {
    const failure = this.#failure ?? this.#all.find(({ failure }) => failure)?.failure
    if (failure) throw failure
    this.#marks.check()
  }

  /** While nothing is written, every service must answer with what the tables hold. */
  async askAgain(): Promise<void> {
    if (this.#underWay.size === 0) await this.#reads.check()
  }

  /** All listeners resume and receive the rest, and every acknowledged write is among it. */
  async finish(): Promise<void> {
    for (const server of this.#servers) await server.start()
    // A request under way may wait for a stalled listener.
    for (const present of this.#listeners) present.stall(false)
    await Promise.all(this.#underWay)
    for (const [index, present] of this.#listeners.entries()) {
      // After a trim some still receive `reset`.
      for (let tries = 0; tries < 5 && !present.connection; tries++) await present.connect(index)
      if (!present.connection) throw new Violation(`${present.listener.name} cannot come back`)
    }
    await this.#fence()
    this.check()
    await this.askAgain()
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
      reads: this.#reads.compared,
    }
  }

  #findAgain(): readonly Promise<void>[] {
    return this.#listeners.map(
      ({ connection, isStalled }) => (isStalled ? undefined : connection?.again?.()) ?? Promise.resolve(),
    )
  }

  #writeOverListeners(write: Write): readonly Promise<void>[] {
    const patches = this.#listeners.flatMap(({ connection, isStalled }) => (isStalled ? [] : (connection?.patch ?? [])))
    if (patches.length === 0) return []
    const by = (by: Write['by']) => this.#writer.write({ ...write, what: 'update pet', by })
    return [
      by('http'),
      ...patches.map((patch) => this.#writer.writeOverListeners(write, patch)),
      by('http'),
      by('foreign'),
    ]
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

  async #add(listener: Listener, by: By, server: number): Promise<void> {
    const services: Services = { inProcess: this.#inProcess, urlOf: (number) => this.#serverOf(number).url }
    // Half of the new subscriptions begin in the middle of an operation.
    const present = new ConnectedListener(listener, by, services, this.#all.length % 2 === 1)
    this.#listeners.push(present)
    this.#all.push(listener)
    await present.connect(server)
  }

  async #treat(what: Treatment, which: number, server: number): Promise<void> {
    // Witnesses stay.
    const others = this.#listeners.slice(modelNames.length)
    const wanted = others.filter(({ connection, isStalled }) =>
      what === 'resume' ? !connection : connection && isStalled === (what === 'go on'),
    )
    const present = wanted[which % wanted.length]
    if (!present) return
    present.listener.note(what)
    switch (what) {
      case 'resume':
        return present.connect(server)
      case 'stall':
        return present.stall(true)
      case 'go on':
        return present.stall(false)
      case 'leave':
        this.#listeners = this.#listeners.filter((other) => other !== present)
        present.connection?.cut()
        return
      case 'cut':
        present.connection?.cut()
        await present.connection?.ended
    }
  }

  /** Every connected listener must receive it, and its records must equal the tables at that moment. */
  async #fence(): Promise<void> {
    // Events are judged by the rules as they are when they are delivered: nothing may be written behind the fence.
    if (this.#settings.isRuled) await Promise.all(this.#underWay)
    let reached: Truth | undefined
    const number = ++this.#fences.begun
    const marks = this.#marks.acknowledged()
    await this.foreignWriter.fence(fenceMark(number), (truth: Truth) => {
      reached = truth
      this.#fences.set(number, truth)
    })
    this.#fences.last = number
    const deadline = performance.now() + receiveTimeoutMs
    for (const present of this.#listeners) {
      const { listener } = present
      while (present.connection && !present.isStalled && !listener.failure && !listener.hasPassed(number)) {
        const left = deadline - performance.now()
        if (left <= 0) throw new Violation(`${listener.name} has not received of ${fenceMark(number)}`)
        await Promise.race([listener.change, wait(Math.min(left, 100))])
      }
    }
    this.#marks.mustBeReceived(marks)
    if (this.#settings.isRuled && reached) await this.#compareUsers(reached)
  }

  /** The records of each user must equal its query. Where rights have changed, it may have to read them again first. */
  async #compareUsers(truth: Truth): Promise<void> {
    const deadline = performance.now() + receiveTimeoutMs
    for (const present of this.#listeners.slice(modelNames.length)) {
      const { listener } = present
      while (present.connection && !present.isStalled && !listener.failure) {
        const difference = listener.differenceFrom(truth)
        if (difference === undefined) break
        if (performance.now() > deadline) return listener.fail(new Violation(difference))
        await Promise.race([listener.change, wait(20)])
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { connection } of this.#listeners) connection?.cut()
    await this.#writer.close()
    await Promise.all(this.#servers.map((server) => server[Symbol.asyncDispose]()))
    await Promise.allSettled(this.#underWay)
    await this.#inProcess[Symbol.asyncDispose]()
    await this.foreignWriter[Symbol.asyncDispose]()
  }
}
