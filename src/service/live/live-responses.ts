import type { Peer } from '../../protocol/event.ts'
import type { ServiceRequest, ServiceResponse, Streamed } from '../../protocol/request.ts'
import { cancellable } from '../../support/cancellable.ts'
import type { Authorization } from '../dispatch/authorize.ts'
import { retryMs, streamHeaders } from './event-stream-format.ts'
import { encodeFrame, type LiveFrame } from './live-frame.ts'
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

const streamed = (stream: LiveStream): Streamed => ({
  ...cancellable(piecesOf(stream), () => stream.end()),
  stop: () => stream.stop(),
})

async function* piecesOf(stream: LiveStream): AsyncGenerator<string, undefined, undefined> {
  let piece = `retry: ${retryMs}\n`
  try {
    for (let frame = await stream.take(); frame; frame = await stream.take()) {
      piece += sentEvent(frame)
      if (stream.hasFrames && piece.length < maxPieceLength) continue
      yield piece
      piece = ''
    }
    if (piece !== '') yield piece
  } finally {
    stream.end()
  }
}

function sentEvent(frame: LiveFrame): string {
  if (frame.event === 'heartbeat') return ':\n\n'
  const id = frame.position === undefined ? '' : `id: ${frame.position}\n`
  return `event: ${frame.event}\n${id}data: ${encodeFrame(frame)}\n\n`
}

/** Each message waits until the client has read those before it. */
async function relay(stream: LiveStream, peer: Peer, signal: AbortSignal | undefined): Promise<void> {
  const end = () => stream.end()
  signal?.addEventListener('abort', end)
  if (signal?.aborted) end()
  try {
    for (let frame = await stream.take(); frame; frame = await stream.take()) {
      if (frame.event === 'heartbeat') continue
      const text = encodeFrame(frame)
      const sent = peer.message?.(messageName, `{"event":"${frame.event}"${text === '{}' ? '' : ','}${text.slice(1)}`)
      if (sent === false) break
      await sent
    }
  } finally {
    signal?.removeEventListener('abort', end)
    end()
  }
}
