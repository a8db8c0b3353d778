import { lstat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { create as contentDisposition } from 'content-disposition'
import { isBytes } from '../../support/is-bytes.ts'
import { contentTypeOf } from '../pages/content-types.ts'
import { contentOf as readFile } from '../pages/file-response.ts'
import { type Content, ContentStream, endContent } from './content-stream.ts'

export interface FileOptions {
  /** The name under which a browser saves it. */
  readonly name?: string
  /** The Content-Type; by default that of the extension of the name. */
  readonly type?: string
  /** Shown by a browser instead of saved, in a sandbox without scripts. */
  readonly inline?: boolean
}

export interface ReplyOptions {
  /** From 200 to 399; default 200. */
  readonly status?: number
  /** Added to those of the service, which a header of the same name replaces. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A result of an action with a status and headers of its own. Over a socket or in the same process, `value` is the result. */
export class ActionReply<T = unknown> {
  readonly value: T
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(value: T, { status = 200, headers = {} }: ReplyOptions = {}) {
    if (!Number.isInteger(status) || status < 200 || status > 399)
      throw new TypeError(`reply: the status must be from 200 to 399, not ${status}; a refusal is thrown: see refuse`)
    if (bodyless.has(status) && value !== undefined)
      throw new TypeError(`reply: an answer with the status ${status} has no body, so its value must be undefined`)
    this.value = value
    this.status = status
    this.headers = Object.fromEntries(Object.entries(headers).map(([name, value]) => [checked(name, value), value]))
  }
}

/** A result of an action that is sent as bytes. */
export class ActionFile {
  readonly content: Content | { readonly path: string }
  readonly options: FileOptions

  constructor(content: Content | { readonly path: string }, options: FileOptions) {
    if (options.type !== undefined) assertHeader('Content-Type', options.type)
    this.content = content
    this.options = options
  }
}

/** A result with a status and headers: `reply(order, { status: 201, headers: { Location: '/order/7' } })`. */
export const reply = <T>(value: T, options: ReplyOptions = {}): ActionReply<T> =>
  createOrEnd(value, () => new ActionReply(value, options))

/** A result that is sent as a file: bytes, a stream of them, or `{ path }`, which is read while it is sent. */
export const file = (content: Content | { readonly path: string }, options: FileOptions = {}): ActionFile =>
  createOrEnd(content, () => new ActionFile(content, options))

/** Where the options are refused, the source is ended. */
function createOrEnd<T>(source: unknown, create: () => T): T {
  try {
    return create()
  } catch (error) {
    endResult(source)
    throw error
  }
}

/** Headers that the transport decides. */
const transportHeaders =
  /^(?:content-length|transfer-encoding|connection|keep-alive|upgrade|trailer|te|x-content-type-options)$/i

/** Statuses whose answers end with their headers. */
const bodyless: ReadonlySet<number> = new Set([204, 205, 304])

/** The name in one spelling. */
function checked(name: string, value: string): string {
  assertHeader(name, value)
  return spelled(name)
}

/** Throws for what HTTP does not allow: found when the answer is written, it would be an error after the commit. */
function assertHeader(name: string, value: string): void {
  const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule('node:http')
  validateHeaderName(name)
  validateHeaderValue(name, value)
}

/** One spelling of a name, so that a header of the reply replaces the one of the service. */
function spelled(name: string): string {
  if (transportHeaders.test(name)) throw new TypeError(`reply: the header ${name} is set by the service`)
  return name
    .toLowerCase()
    .replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase())
    .replace(/^Etag$/, 'ETag')
}

/** A body in pieces, with the headers that describe it. */
export interface StreamedContent {
  readonly headers: Readonly<Record<string, string>>
  readonly stream: AsyncIterable<string | Uint8Array>
}

/** A file that is named by its path must exist now: a missing one is an error before anything is sent. */
export async function contentOf({ content, options }: ActionFile): Promise<StreamedContent> {
  if (!('path' in content))
    return { headers: headersFor(options, lengthOf(content)), stream: new ContentStream(content) }
  const stats = await lstat(content.path)
  if (!stats.isFile()) throw new Error(`${content.path} is not a file`)
  const headers = headersFor({ name: basename(content.path), ...options }, stats.size)
  return { headers, stream: readFile(content.path, stats) }
}

const lengthOf = (content: Content): number | undefined => (isBytes(content) ? content.byteLength : undefined)

function headersFor({ name, type, inline = false }: FileOptions, length: number | undefined) {
  return {
    'Content-Type': type ?? contentTypeOf(name === undefined ? '' : extname(name)),
    'Content-Disposition': contentDisposition(name, { type: inline ? 'inline' : 'attachment' }),
    ...(inline && {
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
    }),
    ...(length !== undefined && { 'Content-Length': String(length) }),
  }
}

/** A stream without a name and a type: bytes that a browser saves. */
export const unnamedContent = (content: Content): Promise<StreamedContent> => contentOf(new ActionFile(content, {}))

/** Ends the source of a result that will not be sent. */
export function endResult(result: unknown): void {
  const value = result instanceof ActionReply ? result.value : result
  void endContent(value instanceof ActionFile ? value.content : value)
}
