import type { Peer } from '../../protocol/event.ts'
import { EncodedJson } from '../../protocol/json.ts'
import type { ServiceRequest, ServiceResponse, Streamed } from '../../protocol/request.ts'
import { cancellable } from '../../support/cancellable.ts'
import type { MaybePromise } from '../../support/maybe-promise.ts'
import type { Authorization } from '../dispatch/authorize.ts'
import { encodeInParts } from '../dispatch/encode-records.ts'
import { retryMs, streamHeaders } from './event-stream-format.ts'
import { encodeFrame, framePieces, type LiveFrame } from './live-frame.ts'
import type { LiveStream } from './live-stream.ts'
import type { LiveStreams } from './live-streams.ts'

/** Frames are joined up to about this length. */
const maxPieceLength = 65_536

/** The name of the messages that a socket receives. */
const messageName = 'live'

/** The response to `POST /live`: an event stream, or, over a socket, the id of a stream whose frames are messages. */
export async function liveResponse(
  streams: LiveStreams,
  { body, peer }: ServiceRequest,
  authorization: Authorization,
  onError: (error: unknown) => void,
): Promise<ServiceResponse> {
  const signal = peer?.signal // from now on it says when the socket is closed
  const stream = await streams.handle(body, authorization, peer)
  const headers = { 'Cache-Control': 'no-store' }
  if (!stream) return { status: 200, headers, body: {} }
  if (peer) {
    relay(stream, peer, signal).catch(onError)
    return { status: 200, headers, body: { stream: stream.id } }
  }
  return { status: 200, headers: streamHeaders, stream: streamed(stream) }
}

function streamed(stream: LiveStream): Streamed {
  /** Of a frame that is sent in pieces. */
  let unsent = 0
  const pieces = piecesOf(stream, (length) => {
    unsent = length
  })
  return {
    ...cancellable(pieces, () => stream.end()),
    stop: () => stream.stop(),
    get unsentLength() {
      return unsent
    },
  }
}

async function* piecesOf(
  stream: LiveStream,
  onUnsent: (length: number) => void,
): AsyncGenerator<string, undefined, undefined> {
  let piece = `retry: ${retryMs}\n`
  try {
    let frame = await stream.take()
    while (frame) {
      if (frame.result) {
        let unsent = frame.result.length
        piece += eventBegin(frame)
        for (const part of framePieces(frame, frame.result)) {
          piece += part
          unsent -= part.length
          if (piece.length < maxPieceLength) continue
          onUnsent(Math.max(unsent, 0))
          yield piece
          piece = ''
        }
        onUnsent(0)
        piece += '\n\n'
      } else piece += sentEvent(frame)
      // It would be kept for as long as the next one is waited for.
      frame = undefined
      if (!stream.hasFrames || piece.length >= maxPieceLength) {
        yield piece
        piece = ''
      }
      frame = await stream.take()
    }
    if (piece !== '') yield piece
  } finally {
    stream.end()
  }
}

const sentEvent = (frame: LiveFrame): string =>
  frame.event === 'heartbeat' ? ':\n\n' : `${eventBegin(frame)}${encodeFrame(frame)}\n\n`

const eventBegin = ({ event, position }: LiveFrame): string =>
  `event: ${event}\n${position === undefined ? '' : `id: ${position}\n`}data: `

/** Each message waits until the client has read those before it. */
async function relay(stream: LiveStream, peer: Peer, signal: AbortSignal | undefined): Promise<void> {
  const end = () => stream.end()
  signal?.addEventListener('abort', end)
  if (signal?.aborted) end()
  try {
    for (let frame = await stream.take(); frame; frame = await stream.take()) {
      if (frame.event === 'heartbeat') continue
      const message = messageOf(frame)
      const sent = peer.message?.(messageName, message instanceof Promise ? await message : message)
      if (sent === false) break
      await sent
    }
  } finally {
    signal?.removeEventListener('abort', end)
    end()
  }
}

/** Rows are encoded in parts, between which others run. */
function messageOf(frame: LiveFrame): MaybePromise<EncodedJson> {
  const event = `,"event":"${frame.event}"`
  if (frame.result) return encodeInParts(framePieces(frame, frame.result, event), Number.POSITIVE_INFINITY)
  const text = encodeFrame(frame)
  return new EncodedJson(`{${event.slice(1)}${text === '{}' ? '' : ','}${text.slice(1)}`)
}
