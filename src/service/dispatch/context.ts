import type { ShadowCheck } from '../../access/shadow-check.ts'
import type { OperationServices } from '../../operation/operation.ts'
import type { Handshake } from '../../protocol/request.ts'
import type { Requester } from '../../protocol/requester.ts'
import type { SocketBroker } from '../../realtime/socket/socket-broker.ts'
import type { Lru } from '../../support/lru.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'
import type { ActionOperations } from '../actions/action-operations.ts'
import type { ShapeEndpoint } from '../electric/shape-endpoint.ts'
import type { IdempotentWrites } from '../idempotency/idempotent-writes.ts'
import type { Streams } from '../live/event-stream.ts'
import type { LiveStreams } from '../live/live-streams.ts'
import type { OperationTokens } from '../live/operation-tokens.ts'
import type { SubscriptionFactory } from '../live/subscription-factory.ts'
import type { LandingPage } from '../pages/landing-page.ts'
import type { PublicFiles } from '../pages/public-files.ts'
import type { AnswerCache } from './answer-cache.ts'
import type { Authorization, AuthorizationContext } from './authorize.ts'
import type { JsonpMode } from './jsonp.ts'
import type { LargeWrites } from './large-writes.ts'
import type { ReadPosition } from './read-position.ts'
import type { Plan } from './resolve.ts'
import type { AnswerEncoding } from './respond.ts'
import type { Routes } from './routes.ts'

/** What the stages of a request need. Made once per service. */
export interface DispatchContext extends AuthorizationContext {
  /** The authorization of anonymous requests where nothing restricts them: always the same. */
  readonly unrestricted: Authorization | undefined
  readonly routes: Routes
  readonly services: OperationServices
  /** Operations of the application. */
  readonly actions: ActionOperations
  readonly broker: SocketBroker
  readonly subscriptions: SubscriptionFactory
  readonly streams: Streams
  readonly liveStreams: LiveStreams
  readonly landingPage: LandingPage | undefined
  /** Electric's shape protocol. */
  readonly shapes: ShapeEndpoint | undefined
  /** Files that are served beside the models. */
  readonly files: PublicFiles | undefined
  readonly jsonp: JsonpMode
  /** Associations are embedded when the request does not say. */
  readonly populates: boolean
  /** The requester of a request. Undefined: every request is anonymous. */
  readonly identify: ((request: Handshake) => MaybePromise<Requester>) | undefined
  /** Undefined: no answer is checked a second time. */
  readonly shadow: ShadowCheck | undefined
  readonly idempotency: IdempotentWrites
  readonly largeWrites: LargeWrites
  readonly tokens: OperationTokens
  readonly position: ReadPosition
  readonly encoding: AnswerEncoding
  readonly onError: (error: unknown) => void
  /** Undefined: no answer is kept. */
  readonly answers: AnswerCache | undefined
  /** By address. Undefined: none is kept. */
  readonly plans: Lru<string, Plan | 'seen once'> | undefined
}
