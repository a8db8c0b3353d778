import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { folder, root, write } from '../support/command.ts'
import { databases } from '../support/databases.ts'
import { HttpConnection } from '../support/http-connection.ts'

/** Serves, and takes all file descriptors or frees them for each line that it reads. Prints what it logs. */
const program = (database: string) => `
import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { createInterface } from 'node:readline'
import { createService } from ${JSON.stringify(pathToFileURL(join(root, 'src/index.ts')))}

const none = () => {}
const service = await createService({
  database: ${JSON.stringify(database)},
  models: { pet: { attributes: { name: { type: 'string' } } } },
  logger: { info: none, warn: none, error: (_, message) => console.log(message) },
})
console.log((await service.listen(0, '127.0.0.1')).port)
let taken = []
createInterface({ input: process.stdin })
  .on('line', () => {
    if (taken.length > 0) for (const one of taken.splice(0)) closeSync(one)
    else try { for (;;) taken.push(openSync(devNull)) } catch {}
    console.log(taken.length > 0 ? 'taken' : 'free')
  })
  .on('close', () => process.exit())
`
const get = 'GET /pet?limit=1 HTTP/1.1\r\nHost: localhost\r\n'
const close = 'Connection: close\r\n\r\n'

for (const { name, missing, open } of databases) {
  const skip = missing ?? (process.platform === 'win32' ? 'without ulimit' : false)
  describe(`without file descriptors, on ${name}`, { skip }, () => {
    test('a service says so once, answers open connections, and accepts new ones when some are free', async () => {
      await using database = await open()
      const path = folder()
      write(path, 'main.ts', program(database.url))
      const child = spawn('sh', ['-c', 'ulimit -n 80; exec "$0" main.ts', process.execPath], {
        cwd: path,
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      /** Without those of connections to PostgreSQL: work that no request waits for says so as well. */
      const nextLine = async (): Promise<string | undefined> => {
        const { value } = await lines.next()
        return value?.includes(': connect EMFILE') ? nextLine() : value
      }
      try {
        const port = Number(await nextLine())
        const client = new HttpConnection(port)
        client.write(`${get}\r\n`)
        await client.until(/\[\]/)
        child.stdin.write('\n')
        assert.equal(await nextLine(), 'taken')
        assert.match((await nextLine()) ?? '', /^No file descriptors are left \(EMFILE\)/)
        assert.equal(await new HttpConnection(port).all(), '')
        client.write(`${get}${close}`)
        assert.match(await client.all(), /200 OK.*200 OK/s)
        // The watch tries every second: more would be said in these.
        await new Promise((resolve) => setTimeout(resolve, 2_500))
        child.stdin.write('\n')
        assert.equal(await nextLine(), 'free')
        const another = new HttpConnection(port)
        another.write(`${get}${close}`)
        assert.match(await another.all(), /^HTTP\/1.1 200 OK/)
      } finally {
        child.stdin.end()
        await once(child, 'exit')
      }
    })
  })
}
