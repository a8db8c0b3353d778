import { randomUUID } from 'node:crypto'
import { errorResponse } from '../../protocol/error-response.ts'
import { ServiceError } from '../../protocol/errors.ts'
import type { Mirror, Peer, SubscriptionEvent } from '../../protocol/event.ts'
import { EncodedJson, type JsonObject } from '../../protocol/json.ts'
import type { Handshake, ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import { type Requester, remainingMs } from '../../protocol/requester.ts'
import { endUnread } from '../../support/end-unread.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'
import { takeWeight } from '../body-weight.ts'
import { observeRequest } from '../observe-request.ts'
import { DeferredEvents } from './deferred-events.ts'
import { encodeInParts, encodeMalformed, encodeResponse, tooManyRequests } from './encode-response.ts'
import { closeCodes, type EngineSession, packetOverhead, replyWith, type SessionListener } from './engine-session.ts'
import * as packets from './packet.ts'
import { RequestQueue } from './request-queue.ts'
import { MalformedMessage, readRequest } from './sails-request.ts'
import { SharedPacket } from './shared-packet.ts'
import type { SocketContext } from './socket-context.ts'
import { TokenBucket } from './token-bucket.ts'

export interface ClientOptions {
  readonly session: EngineSession
  /** The request that opened the session: it identifies the client, and all its requests share the headers. */
  readonly handshake: Handshake
  /** Called once, when the connection is closed. */
  readonly onClose: () => void
}

/** One Socket.IO client: executes its requests and sends it events. */
export class SocketClient implements Peer, SessionListener {
  readonly id = randomUUID()
  requester: Requester | undefined
  readonly mirror: Mirror
  readonly #context: SocketContext
  readonly #options: ClientOptions
  readonly #session: EngineSession
  readonly #rateLimit: TokenBucket
  readonly #requests: RequestQueue
  readonly #deferred = new DeferredEvents<SharedPacket>()
  readonly #openedAtMs: number
  #deferredBytes = 0
  #connection: Disposable | undefined
  #isConnecting = false
  /** By the clock of the context. */
  #expiresAtMs = Number.POSITIVE_INFINITY
  #abort: AbortController | undefined
  #isDraining = false
  /** Resolves when the client has read what was sent, or is closed. */
  #drained: PromiseWithResolvers<void> | undefined

  constructor(context: SocketContext, options: ClientOptions) {
    this.mirror = context.mirror
    this.#context = context
    this.#options = options
    this.#session = options.session
    this.#openedAtMs = context.clock.now()
    this.#rateLimit = new TokenBucket(context.limits.maxMessagesPerSecond, context.clock.now())
    this.#requests = new RequestQueue({
      concurrency: context.limits.maxRequestsPerSocket,
      // Responses that the client does not read must not accumulate.
      canStart: () => !this.#session.needsDrain,
      onDone: () => this.#afterRequest(),
    })
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    return this.#abort.signal
  }

  open(): void {
    this.#session.listen(this)
  }

  /** In Engine.IO 3 a client is connected to the main namespace at once; in 4 it sends a connect packet. */
  onOpen(): void {
    if (this.#session.version === 3) this.#connect()
  }

  onPacket(packet: packets.Packet | undefined): void {
    const token = this.#rateLimit.take(this.#context.clock.now())
    if (token === 'abused') this.#disconnect()
    else if (!packet) return
    else if (packet.kind === 'event') this.#onEvent(packet, token === 'granted')
    else if (packet.kind === 'connect' && packet.namespace !== '/')
      this.#refuseConnection(packet.namespace, 'Invalid namespace')
    else if (packet.kind === 'connect') this.#connect()
    else if (packet.kind === 'disconnect' && packet.namespace === '/') this.#close(closeCodes.normal)
  }

  send(event: SubscriptionEvent): boolean {
    if (!this.#session.isOpen) return false
    const packet = this.#context.packetOf(event)
    if (!this.#deferred.defer(packet)) return this.#push(packet)
    this.#deferredBytes += packet.text.length + packetOverhead
    if (this.#deferredBytes <= this.#context.limits.maxQueuedBytes) return true
    this.terminate()
    return false
  }

  /** Its sender waits until it was read, so that it does not count as queued. */
  message(name: string, argument: EncodedJson): Promise<void> | undefined | false {
    if (!this.#session.isOpen) return false
    replyWith(this.#session, argument, (text) => packets.eventPacket(name, text))
    if (!this.#session.needsDrain) return undefined
    this.#drained ??= Promise.withResolvers()
    return this.#drained.promise
  }

  /** Sails clients have no message for this. They reconnect after the connection is closed, and subscribe again. */
  reset(): void {
    this.#context.observe?.({ kind: 'subscriptionLost', transport: 'socket' })
    this.#close(closeCodes.tryAgainLater)
  }

  /** Accepts no more requests, finishes those it has, and closes; clients reconnect by themselves. */
  drain(): void {
    this.#isDraining = true
    if (this.#requests.isIdle) this.#close(closeCodes.goingAway)
  }

  terminate(): void {
    this.#session.terminate()
    this.#unsubscribe()
  }

  heartbeat(nowMs: number): void {
    const isLate = !this.#connection && nowMs - this.#openedAtMs > this.#context.limits.connectTimeoutMs
    if (isLate) this.terminate()
    else if (nowMs >= this.#expiresAtMs) this.#close(closeCodes.policyViolation)
    else this.#session.heartbeat(nowMs)
  }

  onDrain(): void {
    this.#releaseMessages()
    this.#requests.startNext()
    this.#readOn()
  }

  onClose(): void {
    this.#releaseMessages()
    this.#unsubscribe()
    this.#abort?.abort()
    this.#requests.clear()
    this.#options.onClose()
  }

  #releaseMessages(): void {
    this.#drained?.resolve()
    this.#drained = undefined
  }

  /** The client may send requests once it has received that it is connected, which is after it has been identified. */
  #connect(): void {
    if (this.#isConnecting) return
    this.#isConnecting = true
    try {
      const requester = this.#context.service.identify?.(this.#options.handshake)
      if (!(requester instanceof Promise)) this.#connectAs(requester)
      else requester.then((found) => this.#connectAs(found)).catch((error) => this.#refuseIdentity(error))
    } catch (error) {
      this.#refuseIdentity(error)
    }
  }

  #connectAs(requester: Requester | undefined): void {
    if (!this.#session.isOpen) return
    this.requester = requester
    this.#expiresAtMs = this.#context.clock.now() + remainingMs(requester)
    try {
      this.#connection = this.#context.service.connect(this)
      this.#session.reply(packets.connectPacket(this.#session.version, this.id))
    } catch (error) {
      this.#context.onError(error)
      this.#close(closeCodes.internalError)
    }
  }

  /** The client receives what a request would be answered. An error that is not meant for clients is reported. */
  #refuseIdentity(error: unknown): void {
    const problem = errorResponse(error, this.#context.onError).body as JsonObject
    this.#refuseConnection('/', String(problem.title), problem)
    this.#close(closeCodes.unauthorized)
  }

  #refuseConnection(namespace: string, message: string, problem?: JsonObject): void {
    const packet = packets.connectErrorPacket(this.#session.version, namespace, message, problem)
    this.#session.push(new SharedPacket(packet))
  }

  #onEvent(event: packets.Event, isGranted: boolean): void {
    if (!this.#connection || event.namespace !== '/') {
      this.#close(closeCodes.protocolError) // a namespace must be connected before it is used
    } else if (!isGranted) {
      this.#refuse(event)
    } else if (!this.#isDraining) {
      this.#add(event)
      if (this.#requests.waiting >= this.#context.limits.maxRequestsPerSocket) this.#session.pause()
    }
  }

  #add(event: packets.Event): void {
    try {
      this.#requests.add(() => this.#execute(event), takeWeight(event.list, this.#context.waiting))
    } catch (error) {
      this.#reply(event, errorResponse(error, this.#context.onError))
    }
  }

  #refuse({ ack }: packets.Event): void {
    if (ack === undefined) return
    const response = encodeResponse(tooManyRequests(this.#context.limits))
    this.#session.push(new SharedPacket(packets.ackPacket(ack, response)))
  }

  async #execute(event: packets.Event): Promise<void> {
    const { service, limits, clock, onError } = this.#context
    if (clock.now() >= this.#expiresAtMs) {
      this.#close(closeCodes.policyViolation)
      return
    }
    let request: ServiceRequest | undefined
    try {
      request = readRequest(event.list, { peer: this, headers: this.#options.handshake.headers }, limits)
    } catch (error) {
      if (error instanceof MalformedMessage) this.#reportMalformed(event, error)
      else this.#reply(event, errorResponse(error, onError))
      return
    }
    if (!request) return
    const endRequest = this.#deferred.beginRequest((packet) => this.#release(packet))
    try {
      const response = await this.#observed(request, () => service.handle(request))
      if (response.stream) {
        endUnread(response.stream, onError)
        throw new ServiceError('E_BAD_REQUEST', 'A socket cannot be answered with a stream')
      }
      this.#reply(event, request.method === 'HEAD' ? { ...response, body: undefined } : response)
    } catch (error) {
      this.#reply(event, errorResponse(error, onError))
    }
    endRequest()
  }

  #observed(
    { method, path }: ServiceRequest,
    answer: () => MaybePromise<ServiceResponse>,
  ): MaybePromise<ServiceResponse> {
    const { observe } = this.#context
    return observe ? observeRequest(observe, { transport: 'socket', method, path }, answer) : answer()
  }

  #reply({ ack }: packets.Event, response: ServiceResponse): void {
    if (ack === undefined) return
    const encoded = new EncodedJson(encodeInParts(response) ?? encodeResponse(response))
    replyWith(this.#session, encoded, (text) => packets.ackPacket(ack, text))
  }

  #reportMalformed({ ack }: packets.Event, error: MalformedMessage): void {
    const argument = encodeMalformed(error)
    const packet =
      ack === undefined ? packets.eventPacket('sails:parseError', argument) : packets.ackPacket(ack, argument)
    this.#session.push(new SharedPacket(packet))
  }

  #afterRequest(): void {
    this.#readOn()
    if (this.#isDraining && this.#requests.isIdle) this.#close(closeCodes.goingAway)
  }

  #readOn(): void {
    if (this.#requests.waiting < this.#context.limits.maxRequestsPerSocket) this.#session.resume()
  }

  #release(packet: SharedPacket): void {
    this.#deferredBytes -= packet.text.length + packetOverhead
    this.#push(packet)
  }

  #push(packet: SharedPacket): boolean {
    const isSent = this.#session.push(packet)
    if (!isSent) this.#unsubscribe()
    return isSent
  }

  /** After a disconnect packet of Socket.IO, a client does not reconnect by itself. */
  #disconnect(): void {
    this.#session.reply(packets.disconnectPacket)
    this.#close(closeCodes.policyViolation)
  }

  #close(code: number): void {
    this.#session.close(code)
    this.#unsubscribe()
  }

  #unsubscribe(): void {
    this.#connection?.[Symbol.dispose]()
    this.#deferred.clear()
  }
}
