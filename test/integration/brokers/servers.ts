import { execFile, execFileSync, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { eventually } from '../../support/eventually.ts'

const run = promisify(execFile)

/** A program of this machine that a test starts on a port of its own. */
export interface StartedServer extends AsyncDisposable {
  readonly port: number
  readonly folder: string
}

/** The reason why a program cannot be started; undefined when it can. */
export function missingProgram(program: string): string | undefined {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return undefined
  } catch {
    return `"${program}" is not installed`
  }
}

async function started(
  program: string,
  argsOf: (port: number, folder: string) => readonly string[] | Promise<readonly string[]>,
  givenPort?: number,
): Promise<StartedServer> {
  const folder = await mkdtemp(join(tmpdir(), 'keelson-broker-'))
  const port = givenPort ?? (await freePort())
  const child = spawn(program, await argsOf(port, folder), { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(`${program} has ended: ${output}`)
    return answers(port)
  })
  return {
    port,
    folder,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export const redis = (...options: readonly string[]): Promise<StartedServer> =>
  started('redis-server', (port) => ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', ...options])

/** Accepts TLS only. `ca.pem` in its folder is the certificate to trust. */
export const redisWithTls = (...options: readonly string[]): Promise<StartedServer> =>
  started('redis-server', async (port, folder) => {
    const { cert, key } = await certificate(folder)
    const tls = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', cert, '--tls-auth-clients', 'no']
    return ['--port', '0', '--tls-port', `${port}`, '--bind', '127.0.0.1', '--save', '', ...tls, ...options]
  })

export const nats = (...options: readonly string[]): Promise<StartedServer> =>
  started('nats-server', (port) => ['--port', `${port}`, '--addr', '127.0.0.1', ...options])

/** Accepts TLS only. */
export const natsWithTls = (...options: readonly string[]): Promise<StartedServer> =>
  started('nats-server', async (port, folder) => {
    const { cert, key } = await certificate(folder)
    return ['--port', `${port}`, '--addr', '127.0.0.1', '--tls', '--tlscert', cert, '--tlskey', key, ...options]
  })

export interface BouncerOptions {
  /** Processes of the server for one database. */
  readonly poolSize?: number
  /** Processes are used by turns. */
  readonly roundRobin?: boolean
  /** Of one that has ended. */
  readonly port?: number
  /** Accepts TLS only. */
  readonly isTls?: boolean
}

/** PgBouncer in front of the server of a database, whose URL through it is returned as well. */
export async function pgBouncer(
  databaseUrl: string,
  mode: 'session' | 'transaction' | 'statement',
  { poolSize = 80, roundRobin = false, port: givenPort, isTls = false }: BouncerOptions = {},
): Promise<StartedServer & { readonly url: string }> {
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl)
  const server = await started(
    'pgbouncer',
    async (port, folder) => {
      const file = join(folder, 'pgbouncer.ini')
      const target = `host=${hostname} port=${serverPort || 5432} user=${username}${password && ` password=${password}`}`
      const { cert, key } = isTls ? await certificate(folder) : {}
      const tls = isTls
        ? `client_tls_sslmode = require\nclient_tls_cert_file = ${cert}\nclient_tls_key_file = ${key}\n`
        : ''
      await writeFile(
        file,
        `[databases]
* = ${target}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${poolSize}
server_round_robin = ${roundRobin ? 1 : 0}
max_client_conn = 400
${tls}`,
      )
      // It refuses to run as root.
      if (process.getuid?.() !== 0) return [file]
      await run('chown', ['-R', 'nobody', folder])
      return ['-u', 'nobody', file]
    },
    givenPort,
  )
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${server.port}`
  if (isTls) url.searchParams.set('sslmode', 'no-verify')
  return { ...server, url: String(url) }
}

export const caOf = ({ folder }: StartedServer): Promise<string> =>
  readFile(join(folder, 'ca.pem'), 'utf8').then(() => join(folder, 'ca.pem'))

async function certificate(folder: string): Promise<{ readonly cert: string; readonly key: string }> {
  const [cert, key] = [join(folder, 'ca.pem'), join(folder, 'key.pem')]
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert, ...names]
  await run('openssl', made)
  return { cert, key }
}

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
