import { readFileSync } from 'node:fs'
import { setPriority } from 'node:os'

export interface Scheduled {
  /** The processor time that the main thread has used. */
  readonly cpuMs: number
  /** The time for which it was ready to run, and another thread of the machine ran in its place. */
  readonly delayMs: number
}

/** So that other programs of the machine delay this thread less, where the system allows it. */
export function takePriority(): void {
  try {
    setPriority(-10)
  } catch {
    // as it is
  }
}

/** What the kernel has counted of the main thread of a process; undefined where it does not tell. */
export function scheduled(pid: number): Scheduled | undefined {
  try {
    const [cpu, delay] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ')
    return { cpuMs: Number(cpu) / 1e6, delayMs: Number(delay) / 1e6 }
  } catch {
    return undefined
  }
}
