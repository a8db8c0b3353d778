import { randomUUID } from 'node:crypto'
import type { Peer, Message as Told } from '../../protocol/event.ts'
import type { LiveService, ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import type { Clock } from '../../support/clock.ts'
import type { Limits } from '../../support/limits.ts'
import { Allowance } from './allowance.ts'
import { encodeAnswer, encodeMalformed, failed, tooManyRequests } from './answer.ts'
import { closing, type Engine, type EngineListener } from './engine.ts'
import { textFrame } from './frame.ts'
import { Outbox } from './outbox.ts'
import * as packets from './packet.ts'
import { type Headers, Malformed, readRequest } from './sails-request.ts'
import { Turns } from './turns.ts'

/** What all clients share. */
export interface SocketFront {
  readonly service: LiveService
  readonly limits: Limits
  readonly clock: Clock
  readonly mirror: boolean
  readonly report: (error: unknown) => void
  /** One frame for an event, however many hear it. */
  readonly frameOf: (told: Told) => Buffer
}

export interface Opened {
  readonly engine: Engine
  readonly version: packets.EngineVersion
  /** What its requests begin with. */
  readonly headers: Headers
  /** Called once, when there is nothing more to do for it. */
  readonly left: () => void
}

/** One client of the ancestor: what it asks, each request for itself, and what it hears. */
export class SocketClient implements Peer, EngineListener {
  readonly id = randomUUID()
  readonly mirror: boolean
  readonly #front: SocketFront
  readonly #opened: Opened
  readonly #engine: Engine
  readonly #allowance: Allowance
  readonly #turns: Turns
  readonly #outbox = new Outbox<Buffer>()
  readonly #openedAtMs: number
  #heldBytes = 0
  #listening: Disposable | undefined
  #isRetiring = false

  constructor(front: SocketFront, opened: Opened) {
    this.mirror = front.mirror
    this.#front = front
    this.#opened = opened
    this.#engine = opened.engine
    this.#openedAtMs = front.clock.now()
    this.#allowance = new Allowance(front.limits.maxMessagesPerSecond, front.clock.now())
    this.#turns = new Turns({
      atOnce: front.limits.maxRequestsPerSocket,
      // Who does not take the answers is asked for no more questions.
      ready: () => !this.#engine.isBehind,
      done: () => this.#afterRequest(),
    })
  }

  /** In the third generation a client belongs to the main namespace at once; later ones ask. */
  open(): void {
    const { limits, clock } = this.#front
    const { pingIntervalMs: pingInterval, pingTimeoutMs: pingTimeout, maxMessageBytes: maxPayload } = limits
    this.#engine.listen(this, () => clock.now())
    this.#engine.answer(packets.openPacket({ sid: this.id, pingInterval, pingTimeout, maxPayload }))
    if (this.#opened.version === 3) this.#connect()
  }

  packet(packet: packets.Packet): void {
    const spent = this.#allowance.spend(this.#front.clock.now())
    if (spent === 'abused') this.#dismiss()
    else if (packet.kind === 'ping') this.#engine.pong(packet.data)
    else if (packet.kind === 'close') this.#leave(closing.done)
    else if (packet.kind === 'message') this.#message(packet, spent === 'granted')
    else if (packet.kind === 'connect' && packet.namespace !== '/') this.#refuse(packet.namespace)
    else if (packet.kind === 'connect') this.#connect()
    else if (packet.kind === 'disconnect' && packet.namespace === '/') this.#leave(closing.done)
  }

  send(told: Told): boolean {
    if (!this.#engine.isOpen) return false
    const frame = this.#front.frameOf(told)
    if (!this.#outbox.holds(frame)) return this.#tell(frame)
    this.#heldBytes += frame.length
    if (this.#heldBytes <= this.#front.limits.maxQueuedBytes) return true
    this.cut()
    return false
  }

  /** These clients know no way to start afresh but to connect again, and then they do. */
  reset(): void {
    this.#leave(closing.startAfresh)
  }

  /** Takes no more requests, finishes those it has, and says goodbye; clients come back by themselves. */
  retire(): void {
    this.#isRetiring = true
    if (this.#turns.isIdle) this.#leave(closing.goingAway)
  }

  cut(): void {
    this.#engine.cut()
    this.#stopListening()
  }

  beat(nowMs: number): void {
    const isLate = !this.#listening && nowMs - this.#openedAtMs > this.#front.limits.connectTimeoutMs
    if (isLate) this.#leave(closing.policy)
    else this.#engine.beat(nowMs)
  }

  drained(): void {
    this.#turns.next()
    this.#readOn()
  }

  gone(): void {
    this.#stopListening()
    this.#turns.clear()
    this.#opened.left()
  }

  #connect(): void {
    if (this.#listening) return
    this.#listening = this.#front.service.connect(this)
    this.#engine.answer(packets.connectPacket(this.#opened.version, this.id))
  }

  #refuse(namespace: string): void {
    this.#engine.tell(textFrame(packets.refusalPacket(this.#opened.version, namespace)))
  }

  #message(message: packets.Message, isGranted: boolean): void {
    if (!this.#listening || message.namespace !== '/') {
      this.#leave(closing.protocolError) // who has not connected there cannot mean it
    } else if (!isGranted) {
      this.#decline(message)
    } else if (!this.#isRetiring) {
      this.#turns.add(() => this.#serve(message))
      if (this.#turns.waiting >= this.#front.limits.maxRequestsPerSocket) this.#engine.pause()
    }
  }

  #decline({ ack }: packets.Message): void {
    if (ack === undefined) return
    const answer = encodeAnswer(tooManyRequests(this.#front.limits))
    this.#engine.tell(textFrame(packets.answerPacket(ack, answer)))
  }

  async #serve(message: packets.Message): Promise<void> {
    const { service, limits, report } = this.#front
    let request: ServiceRequest | undefined
    try {
      request = readRequest(message.list, { peer: this, headers: this.#opened.headers }, limits)
    } catch (error) {
      if (error instanceof Malformed) this.#complain(message, error)
      else this.#answer(message, failed(error, report))
      return
    }
    if (!request) return
    const answered = this.#outbox.begin((frame) => this.#release(frame))
    try {
      this.#answer(message, await service.handle(request))
    } catch (error) {
      this.#answer(message, failed(error, report))
    }
    answered()
  }

  #answer({ ack }: packets.Message, response: ServiceResponse): void {
    if (ack !== undefined) this.#engine.answer(packets.answerPacket(ack, encodeAnswer(response)))
  }

  #complain({ ack }: packets.Message, malformed: Malformed): void {
    const argument = encodeMalformed(malformed)
    const isAsked = ack !== undefined
    const packet = isAsked ? packets.answerPacket(ack, argument) : packets.eventPacket('sails:parseError', argument)
    this.#engine.tell(textFrame(packet))
  }

  #afterRequest(): void {
    this.#readOn()
    if (this.#isRetiring && this.#turns.isIdle) this.#leave(closing.goingAway)
  }

  #readOn(): void {
    if (this.#turns.waiting < this.#front.limits.maxRequestsPerSocket) this.#engine.resume()
  }

  #release(frame: Buffer): void {
    this.#heldBytes -= frame.length
    this.#tell(frame)
  }

  #tell(frame: Buffer): boolean {
    const isTold = this.#engine.tell(frame)
    if (!isTold) this.#stopListening()
    return isTold
  }

  /** Told so in its own protocol, a client does not come back by itself. */
  #dismiss(): void {
    this.#engine.answer(packets.disconnectPacket)
    this.#leave(closing.policy)
  }

  #leave(code: number): void {
    this.#engine.close(code)
    this.#stopListening()
  }

  #stopListening(): void {
    this.#listening?.[Symbol.dispose]()
    this.#outbox.clear()
  }
}
