import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The service in a process of its own, so that it can be killed. */
export async function start(database: string) {
  const program = fileURLToPath(new URL('serve.ts', import.meta.url))
  const child = spawn(process.execPath, [program, database], { stdio: ['pipe', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const [url] = await Promise.race([
    once(lines, 'line'),
    exit.then(([code]) => {
      throw new Error(`the service did not start: ${code}`)
    }),
  ])
  return {
    url: url as string,
    async kill() {
      child.kill('SIGKILL')
      await exit
    },
  }
}
