import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

interface LockedPackage {
  readonly version: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly peer?: boolean
}

interface Published {
  readonly manifest: { readonly name: string; readonly version: string }
  readonly tarball: string
}

/**
 * An npm registry on the loopback interface. It serves a packed package and the runtime dependencies that are installed in
 * the repository, so that `npm install` needs no network.
 */
export class LocalRegistry implements AsyncDisposable {
  readonly #server: Server
  readonly url: string

  private constructor(server: Server) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  }

  /** @param root The repository. @param tarball The packed package. @param folder A temporary folder. */
  static async start(root: string, tarball: string, folder: string): Promise<LocalRegistry> {
    const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    const published = [{ manifest, tarball }, ...(await packDependencies(root, folder))]
    const files = new Map(published.map((item) => [`/-/${basename(item.tarball)}`, item.tarball]))
    const server = createServer(async (request, response) => {
      const path = decodeURIComponent(request.url ?? '')
      const file = files.get(path)
      const versions = published.filter((item) => `/${item.manifest.name}` === path)
      if (file !== undefined) response.end(await readFile(file))
      else if (versions.length > 0) response.end(JSON.stringify(metadata(versions, `http://${request.headers.host}`)))
      else response.writeHead(404).end('{}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new LocalRegistry(server)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

function metadata(versions: readonly Published[], origin: string): object {
  const entries = versions.map(({ manifest, tarball }) => [
    manifest.version,
    { ...manifest, dist: { tarball: `${origin}/-/${basename(tarball)}` } },
  ])
  const [{ manifest }] = versions as [Published]
  return { name: manifest.name, 'dist-tags': { latest: manifest.version }, versions: Object.fromEntries(entries) }
}

async function packDependencies(root: string, folder: string): Promise<readonly Published[]> {
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>
  }
  const paths = Object.entries(lock.packages).filter(([path, { dev, peer }]) => path !== '' && !dev && !peer)
  return Promise.all(paths.map(([path], index) => packInstalled(join(root, path), join(folder, `dependency-${index}`))))
}

async function packInstalled(installed: string, folder: string): Promise<Published> {
  const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))
  await mkdir(folder)
  await symlink(installed, join(folder, 'package'))
  const tarball = join(folder, `${manifest.name.replaceAll('/', '-')}-${manifest.version}.tgz`)
  await promisify(execFile)('tar', ['--create', '--gzip', '--dereference', '--file', tarball, '-C', folder, 'package'])
  return { manifest, tarball }
}
