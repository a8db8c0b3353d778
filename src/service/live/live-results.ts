import type { Model } from '../../model/model.ts'
import type { Position } from '../../protocol/change.ts'
import { type ErrorCode, ServiceError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/json.ts'
import { cancellable } from '../../support/cancellable.ts'
import type { Authorization } from '../dispatch/authorize.ts'
import { shownError } from '../dispatch/shown-error.ts'
import type { DifferenceData } from './held-rows.ts'
import { rowsAfter } from './held-rows.ts'
import { encodeFrame, type LiveFrame } from './live-frame.ts'
import { liveFind } from './live-request.ts'
import type { LiveStream } from './live-stream.ts'
import type { LiveStreams } from './live-streams.ts'
import { decodeResumePosition } from './resume-position.ts'

export interface LooseResult {
  readonly rows: readonly JsonObject[]
  readonly position: Position
  readonly total?: number
}

export type LooseResults = AsyncIterableIterator<LooseResult, undefined, undefined> & AsyncDisposable

/** The result of a find for code in the same process, now and after every change. A slow loop receives the last one only. */
export function liveResults(
  { signal, ...options }: JsonObject & { readonly signal?: AbortSignal },
  model: Model,
  authorization: Authorization,
  streams: LiveStreams,
): LooseResults {
  const { view, input } = liveFind(options, model, authorization, streams.services)
  const opening = streams.open([{ name: '', view, input, held: undefined }], authorization)
  opening.catch(() => {}) // the first `next` rejects
  const end = () => {
    signal?.removeEventListener('abort', end)
    opening.then(
      (stream) => stream.end(),
      () => {},
    )
  }
  signal?.addEventListener('abort', end)
  if (signal?.aborted) end()
  return cancellable(resultsOf(opening, model.primaryKey.name, end), end)
}

async function* resultsOf(
  opening: Promise<LiveStream>,
  key: string,
  end: () => void,
): AsyncGenerator<LooseResult, undefined, undefined> {
  try {
    const stream = await opening
    let result: LooseResult | undefined
    let isNew = false
    for (let frame = await stream.take(); frame; frame = await stream.take()) {
      const next = resultAfter(result, frame, key)
      isNew ||= next !== result
      result = next
      if (!isNew || !result || stream.hasFrames) continue
      isNew = false
      yield result
    }
  } catch (error) {
    throw shownError(error)
  } finally {
    end()
  }
}

function resultAfter(result: LooseResult | undefined, frame: LiveFrame, key: string): LooseResult | undefined {
  if (frame.event !== 'rows' && frame.event !== 'diff' && frame.event !== 'failed') return result
  const data = JSON.parse(encodeFrame(frame)) as FrameData
  if (data.error) throw new ServiceError(data.error.code, data.error.detail)
  const total = data.total ?? result?.total
  return {
    rows: data.rows ?? rowsAfter(result?.rows ?? [], data, key),
    // Of the log: code in the same process may read events from there.
    position: decodeResumePosition(data.position).position,
    ...(total !== undefined && { total }),
  }
}

interface FrameData extends DifferenceData {
  readonly position: Position
  readonly rows?: readonly JsonObject[]
  readonly total?: number
  readonly error?: { readonly code: ErrorCode; readonly detail: string }
}
