import { constants, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { extname } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import type Negotiator from 'negotiator'
import type parseRange from 'range-parser'
import type { ServiceRequest, ServiceResponse, Streamed } from '../../protocol/request.ts'
import { isKnown } from '../dispatch/entity-tag.ts'
import { contentTypeOf, isCompressible } from './content-types.ts'

export interface FoundFile {
  readonly path: string
  readonly stats: Stats
}

/** A smaller file gains nothing; a larger one takes the threads that the database and other files need. */
const compressedBytes = { from: 1_024, to: 10_485_760 }

/** Files that are compressed at once: each keeps one of these threads busy. Further ones are sent as they are. */
const maxCompressing = 2
let compressing = 0

/** The response with a file: whole, compressed or in part, or 304 when the client has it. */
export function fileResponse(request: ServiceRequest, { path, stats }: FoundFile): ServiceResponse {
  const { size, mtime } = stats
  const type = contentTypeOf(extname(path))
  const mayCompress = isCompressible(type) && size >= compressedBytes.from && size <= compressedBytes.to
  const isCompressed =
    mayCompress && compressing < maxCompressing && request.headers.range === undefined && acceptsGzip(request)
  const headers: Readonly<Record<string, string>> = {
    ETag: `"${size.toString(16)}-${mtime.getTime().toString(16)}${isCompressed ? '-gzip' : ''}"`,
    'Last-Modified': mtime.toUTCString(),
    // May be cached, and must be revalidated each time.
    'Cache-Control': 'no-cache',
    ...(mayCompress && { Vary: 'Accept-Encoding' }),
  }
  if (isUnchanged(request, headers.ETag as string, mtime)) return { status: 304, headers }
  const whole = { ...headers, 'Content-Type': type, 'Accept-Ranges': 'bytes' }
  if (isCompressed) {
    return { status: 200, headers: { ...whole, 'Content-Encoding': 'gzip' }, stream: gzipped(contentOf(path, stats)) }
  }
  const range = rangeOf(request, headers, size)
  if (range === 'unsatisfiable') return { status: 416, headers: { 'Content-Range': `bytes */${size}` } }
  const { start, end } = range ?? { start: 0, end: size - 1 }
  return {
    status: range ? 206 : 200,
    headers: {
      ...whole,
      'Content-Length': String(end - start + 1),
      ...(range && { 'Content-Range': `bytes ${start}-${end}/${size}` }),
    },
    stream: contentOf(path, stats, start, end),
  }
}

function isUnchanged({ headers }: ServiceRequest, tag: string, mtime: Date): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = headers
  if (tags !== undefined) return isKnown(tag, tags)
  return typeof since === 'string' && Date.parse(since) >= Math.floor(mtime.getTime() / 1000) * 1000
}

/** Loaded with the first file: most services have none. */
const require = createRequire(import.meta.url)
const negotiator = (): typeof Negotiator => require('negotiator')
const rangeParser = (): typeof parseRange => require('range-parser')

export function acceptsGzip({ headers }: ServiceRequest): boolean {
  const accepted = headers['accept-encoding']
  if (accepted === undefined) return false
  return (
    new (negotiator())({ headers: { 'accept-encoding': String(accepted) } }).encoding(['gzip', 'identity']) === 'gzip'
  )
}

/** The part of a file that the client asks for. Several parts, and parts of another version, are answered with the whole. */
function rangeOf(
  { method, headers }: ServiceRequest,
  { ETag, 'Last-Modified': modified }: Readonly<Record<string, string>>,
  size: number,
): { readonly start: number; readonly end: number } | 'unsatisfiable' | undefined {
  const { range, 'if-range': condition } = headers
  if (method !== 'GET' || typeof range !== 'string' || !range.startsWith('bytes=')) return undefined
  if (condition !== undefined && condition !== ETag && condition !== modified) return undefined
  // The parser knows no last bytes of which there are more than the file has: they are all of it.
  const bounded = range.replace(/([=,]\s*-)(\d+)/g, (_, before, length) => `${before}${Math.min(length, size)}`)
  const ranges = rangeParser()(size, bounded, { combine: true })
  if (ranges === -1) return 'unsatisfiable'
  return ranges === -2 || ranges.length !== 1 ? undefined : ranges[0]
}

/** An error of the content ends the compressed stream with it, and leaving the stream closes the file. */
async function* gzipped(content: Streamed): Streamed {
  compressing++
  try {
    const gzip = process.getBuiltinModule('node:zlib').createGzip()
    pipeline(Readable.from(content), gzip, () => {})
    yield* gzip
  } finally {
    compressing--
  }
}

/** Opens the file with the first chunk; never a link, pipe or device that has replaced it in the meantime. */
export async function* contentOf(path: string, { size, mtimeMs, ino }: Stats, start = 0, end = size - 1): Streamed {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const now = await file.stat()
    if (now.size !== size || now.mtimeMs !== mtimeMs || now.ino !== ino)
      throw new Error(`${path} changed after it was found`)
    const length = end - start + 1
    if (length === 0) return
    let sent = 0
    for await (const piece of file.createReadStream({ start, end, autoClose: false })) {
      sent += piece.length
      yield piece
    }
    if (sent !== length) throw new Error(`${path} changed while it was sent`)
  } finally {
    await file.close()
  }
}
