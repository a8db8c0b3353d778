import { constants, readdirSync } from 'node:fs'
import { access, lstat, realpath, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { ConfigError } from '../../model/config-error.ts'
import type { ServiceRequest, ServiceResponse } from '../../protocol/request.ts'
import { type FoundFile, fileResponse } from './file-response.ts'

/** The response with the file at the path of the request; undefined when there is none. */
export type PublicFiles = (request: ServiceRequest) => Promise<ServiceResponse | undefined>

const indexName = 'index.html'

/** Throws a ConfigError when the folder does not exist. */
export async function openPublicFiles(folder: string): Promise<PublicFiles> {
  const root = await realpath(folder).catch(() => undefined)
  if (root === undefined || !(await stat(root)).isDirectory()) {
    throw new ConfigError([`public: the folder ${folder} does not exist`])
  }
  return async (request) => {
    const segments = segmentsOf(request.path)
    if (!segments) return undefined
    const isFolder = segments.at(-1) === ''
    const found = await find(root, isFolder ? [...segments.slice(0, -1), indexName] : segments)
    if (found?.stats.isFile()) return fileResponse(request, found)
    if (!found?.stats.isDirectory() || isFolder) return undefined
    // Without the slash a browser would resolve the relative links of the page against the parent folder.
    return (await find(root, [...segments, indexName]))?.stats.isFile() ? moved(request, segments) : undefined
  }
}

/** The HTML files of the top folder, except `index.html`, which is served at the address of the service. */
export const pagesIn = (folder: string): readonly string[] =>
  readdirSync(folder).filter((name) => name.endsWith('.html') && name !== indexName && isServed(name))

/**
 * The decoded segments of a path; the last is empty when it ends with a slash. Undefined for paths that no file can have,
 * among them all that lead outside the folder or to hidden files.
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

/** On Windows a colon names a drive or a file stream, and a backslash separates folders. */
const isServed = (name: string): boolean => name !== '' && !name.startsWith('.') && !/[\0/\\:]/.test(name)

/** The file or folder, after symbolic links are resolved; the result must be in the folder and not hidden either. */
async function find(root: string, names: readonly string[]): Promise<FoundFile | undefined> {
  try {
    const path = await realpath(join(root, ...names))
    const inside = relative(root, path)
    if (inside !== '' && !inside.split(sep).every(isServed)) return undefined
    await access(path, constants.R_OK)
    return { path, stats: await lstat(path) }
  } catch {
    return undefined // does not exist, or is not readable
  }
}

function moved({ base = '', query }: ServiceRequest, segments: readonly string[]): ServiceResponse {
  const path = segments.map(encodeURIComponent).join('/')
  return { status: 301, headers: { Location: `${base}/${path}/${query === '' ? '' : `?${query}`}` } }
}
