import type { EngineVersion } from './packet.ts'
import { refusals } from './refusal.ts'

/** The parameters of a request to Engine.IO. */
export interface EngineQuery {
  readonly transport: 'polling' | 'websocket'
  readonly version: EngineVersion
  /** Absent in the first request of a session. */
  readonly sid: string | undefined
}

/** Throws a Refusal for parameters that are not supported. */
export function readQuery(text: string): EngineQuery {
  const query = new URLSearchParams(text)
  const transport = query.get('transport')
  if (transport !== 'polling' && transport !== 'websocket') throw refusals.transport
  if (query.has('j')) throw refusals.jsonp
  const version = query.get('EIO')
  if (version !== '3' && version !== '4') throw refusals.version
  return { transport, version: version === '3' ? 3 : 4, sid: query.get('sid') ?? undefined }
}
