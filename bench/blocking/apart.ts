import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import type { Client } from 'pg'

/** The processor of hostile clients and the database, so that they take no time from the service, as on another machine. */
const otherCpu = availableParallelism() - 1

/** This process, with all its threads, runs on the other processor from now on. */
export function moveProcess(): void {
  for (const thread of readdirSync('/proc/self/task')) setAffinity(thread, String(otherCpu))
}

/** The database server, which runs on this machine, and all its processes run on the other processor until it is disposed. */
export async function movePostgres(admin: Client): Promise<Disposable> {
  const { rows } = await admin.query<{ file: string }>(`select pg_read_file('postmaster.pid') as file`)
  const server = (rows[0]?.file ?? '').split('\n')[0] as string
  const before = affinityOf(server)
  const set = (cpus: string) => {
    setAffinity(server, cpus)
    for (const pid of childrenOf(server)) {
      try {
        setAffinity(pid, cpus)
      } catch (error) {
        if (existsSync(`/proc/${pid}`)) throw error // else it has ended since
      }
    }
  }
  set(String(otherCpu))
  return { [Symbol.dispose]: () => set(before) }
}

function setAffinity(thread: string, cpus: string): void {
  run('taskset', ['-cp', cpus, thread])
}

function affinityOf(pid: string): string {
  return run('taskset', ['-cp', pid]).split(': ').at(-1)?.trim() as string
}

/** The child processes of a process. */
function childrenOf(pid: string): readonly string[] {
  return spawnSync('pgrep', ['-P', pid], { encoding: 'utf8' }).stdout.split('\n').filter(Boolean)
}

function run(command: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? stderr}`)
  return stdout
}
