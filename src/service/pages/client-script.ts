import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { EncodedJson } from '../../protocol/json.ts'
import type { ServiceRequest, ServiceResponse, Streamed } from '../../protocol/request.ts'
import { isSource, programUrl } from '../../support/package-files.ts'
import { isKnown } from '../dispatch/entity-tag.ts'
import { bundleSources } from './bundle-sources.ts'
import { acceptsGzip } from './file-response.ts'

/** The path of the client as one script, for pages without a bundler. */
export const clientScriptPath = '/keelson.js'

interface Script {
  readonly text: string
  readonly tag: string
  readonly compressed: Buffer
}

let loaded: Script | undefined

/** The published package contains the script; in the repository it is made of the sources. Read when it is first requested. */
function load(): Script {
  const { gzipSync } = process.getBuiltinModule('node:zlib')
  const text = isSource ? bundleSources(programUrl('client')) : readFileSync(programUrl('keelson'), 'utf8')
  return { text, tag: hash('sha1', text, 'base64url').slice(0, 22), compressed: gzipSync(text, { level: 9 }) }
}

/** The response with `keelson/client` as one ES module. */
export function clientScript(request: ServiceRequest): ServiceResponse {
  loaded ??= load()
  const isCompressed = acceptsGzip(request)
  const ETag = `"${loaded.tag}${isCompressed ? '-gzip' : ''}"`
  const headers = { ETag, 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' }
  const known = request.headers['if-none-match']
  if (known !== undefined && isKnown(ETag, known)) return { status: 304, headers }
  const whole = { ...headers, 'Content-Type': 'text/javascript; charset=utf-8' }
  return isCompressed
    ? { status: 200, headers: { ...whole, 'Content-Encoding': 'gzip' }, stream: once(loaded.compressed) }
    : { status: 200, headers: whole, body: new EncodedJson(loaded.text) }
}

async function* once(piece: Buffer): Streamed {
  yield piece
}
