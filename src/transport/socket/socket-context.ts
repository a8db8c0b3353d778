import type { Mirror, SubscriptionEvent } from '../../protocol/event.ts'
import type { LiveService } from '../../protocol/request.ts'
import type { Clock } from '../../support/clock.ts'
import type { Limits } from '../../support/limits.ts'
import type { Observe } from '../../support/observation.ts'
import type { WaitingBytes } from '../../support/waiting-bytes.ts'
import type { SharedPacket } from './shared-packet.ts'

/** What all clients of a server share. */
export interface SocketContext {
  readonly service: LiveService
  readonly limits: Limits
  readonly clock: Clock
  readonly mirror: Mirror
  readonly waiting: WaitingBytes
  readonly onError: (error: unknown) => void
  readonly observe?: Observe | undefined
  /** Encodes an event once, whatever the number of receivers. */
  readonly packetOf: (event: SubscriptionEvent) => SharedPacket
}
