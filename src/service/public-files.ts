import { constants, type Stats } from 'node:fs'
import { access, lstat, open, realpath, stat } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { ConfigError } from '../model/config-error.ts'
import type { ServiceRequest, ServiceResponse, Streamed } from '../protocol/request.ts'
import { contentTypeOf } from './content-types.ts'
import { isKnown } from './entity-tag.ts'

/** Answers with a file; undefined when there is none at the address. */
export type PublicFiles = (request: ServiceRequest) => Promise<ServiceResponse | undefined>

const indexName = 'index.html'

/** Throws a ConfigError when there is no such folder. */
export async function openPublicFiles(folder: string): Promise<PublicFiles> {
  const root = await realpath(folder).catch(() => undefined)
  if (root === undefined || !(await stat(root)).isDirectory()) {
    throw new ConfigError([`public names a folder that is not there: ${folder}`])
  }
  return async (request) => {
    const segments = segmentsOf(request.path)
    if (!segments) return undefined
    const isFolder = segments.at(-1) === ''
    const found = await find(root, isFolder ? [...segments.slice(0, -1), indexName] : segments)
    if (found?.stats.isFile()) return answer(request, found)
    if (!found?.stats.isDirectory() || isFolder) return undefined
    // Links in a page are relative to its folder, and without the slash a browser would take them for its neighbours'.
    return (await find(root, [...segments, indexName]))?.stats.isFile() ? moved(request, segments) : undefined
  }
}

/**
 * The names in an address; the last is empty when it ends with a slash. Undefined for an address that no file has, among
 * them every one that could lead elsewhere or to what is hidden.
 */
function segmentsOf(path: string): readonly string[] | undefined {
  try {
    const segments = path.slice(1).split('/').map(decodeURIComponent)
    const isLast = (index: number) => index === segments.length - 1
    return segments.every((name, index) => isServed(name) || (name === '' && isLast(index))) ? segments : undefined
  } catch {
    return undefined // not percent-encoded UTF-8
  }
}

/** A colon names a stream of a file, or a drive, on Windows; so does a backslash a folder. */
const isServed = (name: string): boolean => name !== '' && !name.startsWith('.') && !/[\0/\\:]/.test(name)

interface Found {
  readonly path: string
  readonly stats: Stats
}

/** What a name stands for, when links are followed: it must be in the folder, and not be hidden there either. */
async function find(root: string, names: readonly string[]): Promise<Found | undefined> {
  try {
    const path = await realpath(join(root, ...names))
    const inside = relative(root, path)
    if (inside !== '' && !inside.split(sep).every(isServed)) return undefined
    await access(path, constants.R_OK)
    return { path, stats: await lstat(path) }
  } catch {
    return undefined // it is not there, or we may not see it
  }
}

function answer(request: ServiceRequest, { path, stats }: Found): ServiceResponse {
  const { size, mtime } = stats
  const headers = {
    ETag: `"${size.toString(16)}-${mtime.getTime().toString(16)}"`,
    'Last-Modified': mtime.toUTCString(),
    // It may be kept, and must be asked about each time.
    'Cache-Control': 'no-cache',
  }
  if (isUnchanged(request, headers.ETag, mtime)) return { status: 304, headers }
  return {
    status: 200,
    headers: { 'Content-Type': contentTypeOf(extname(path)), 'Content-Length': String(size), ...headers },
    stream: contentOf(path, stats),
  }
}

function isUnchanged({ headers }: ServiceRequest, tag: string, mtime: Date): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = headers
  if (tags !== undefined) return isKnown(tag, tags)
  return typeof since === 'string' && Date.parse(since) >= Math.floor(mtime.getTime() / 1000) * 1000
}

/** Opened when the first piece is wanted, and then never as a link, a pipe or a device that has taken the file's place. */
async function* contentOf(path: string, { size, mtimeMs, ino }: Stats): Streamed {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const now = await file.stat()
    if (now.size !== size || now.mtimeMs !== mtimeMs || now.ino !== ino) throw new Error(`${path} has just changed`)
    let sent = 0
    for await (const piece of file.createReadStream({ autoClose: false })) {
      sent += piece.length
      if (sent > size) break
      yield piece
    }
    if (sent !== size) throw new Error(`${path} changed while it was sent`)
  } finally {
    await file.close()
  }
}

function moved({ base = '', query }: ServiceRequest, segments: readonly string[]): ServiceResponse {
  const path = segments.map(encodeURIComponent).join('/')
  return { status: 301, headers: { Location: `${base}/${path}/${query === '' ? '' : `?${query}`}` } }
}
