import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'

export interface Scheduled {
  /** The processor time that the main thread has used. */
  readonly cpuMs: number
  /** The time for which it was ready to run, and another thread of the machine ran in its place. */
  readonly delayMs: number
}

/** `nice` values. The service and its database keep the one that they have. */
export const measuringNice = -10
export const hostileNice = 5

/**
 * Sets the priority of this process, which has a session of its own: of all its threads, and that of the session where Linux
 * divides the processors between sessions first. False where the user may not, or where there are no such priorities.
 */
export function setPriorityOfSession(nice: number): boolean {
  if (process.platform !== 'linux') return false
  try {
    // On Linux a priority belongs to a thread, and V8's were started before.
    for (const thread of readdirSync('/proc/self/task')) setPriority(Number(thread), nice)
    if (existsSync(sessionFile)) writeFileSync(sessionFile, String(nice))
    return true
  } catch {
    return false
  }
}

const sessionFile = '/proc/self/autogroup'

/** The times of the main thread of a process, as the kernel reports them; undefined where it does not. */
export function scheduled(pid: number): Scheduled | undefined {
  try {
    const [cpu, delay] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')
    return { cpuMs: Number(cpu) / 1e6, delayMs: Number(delay) / 1e6 }
  } catch {
    return undefined
  }
}

/** How much processor time the host has taken from this virtual machine, in steps of 10 ms; 0 if the kernel does not report it. */
export function stolenMs(): number {
  try {
    return Number(readFileSync('/proc/stat', 'latin1').split('\n', 1)[0]?.split(/ +/)[8] ?? 0) * 10
  } catch {
    return 0
  }
}

/** A clock that all processes share, and that of V8's profiler. */
export const monotonicUs = (): number => Number(process.hrtime.bigint() / 1000n)
