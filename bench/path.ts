import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { request } from 'node:http'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/*
 * How much code a request crosses: the files and functions of `src/` that one warm request calls, over HTTP and SQLite,
 * counted by the coverage of V8. Nothing is embedded unless the request asks for it.
 *
 *   node bench/path.ts [--list] [CHECKOUT]
 */
const list = process.argv.includes('--list')
const checkout = resolve(process.argv.slice(2).find((word) => !word.startsWith('-')) ?? '.')
const sources = pathToFileURL(join(checkout, 'src')).href
const { createService } = await import(`${sources}/index.ts`)

const models = {
  owner: { attributes: { name: { type: 'string' }, pets: { collection: 'pet', via: 'owner' } } },
  pet: { attributes: { name: { type: 'string', required: true }, age: { type: 'number' }, owner: { model: 'owner' } } },
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: string
}

const requests: readonly Sent[] = [
  { method: 'GET', path: '/pet/1' },
  { method: 'PATCH', path: '/pet/1', body: '{"age":4}' },
  { method: 'POST', path: '/pet', body: '{"name":"Tom","age":4}' },
  { method: 'DELETE', path: '/pet/{next}' },
  { method: 'GET', path: '/pet/1?populate=owner' },
]

/** The next record to be destroyed: the first is read and updated. */
let next = 2

const folder = await mkdtemp(join(tmpdir(), 'keelson-path-'))
const service = await createService({ models, populate: false, database: `sqlite:${join(folder, 'path.db')}` })
const { url, port } = await service.listen(0)
const session = new Session()
session.connect()
try {
  await send({ method: 'POST', path: '/owner', body: '{"name":"Ann"}' })
  await send({ method: 'POST', path: '/pet', body: '{"name":"Rex","owner":1}' })
  for (let count = 0; count < 30; count++) await send({ method: 'POST', path: '/pet', body: '{"name":"Tom"}' })
  for (const request of requests) for (let count = 0; count < 3; count++) await send(request)
  await session.post('Profiler.enable')
  for (const sent of requests) {
    // Timers of the service, which fire between requests, are not part of a request: the smallest of several runs.
    const runs = []
    for (let count = 0; count < 5; count++) runs.push(await called(sent))
    const functions = runs.reduce((least, run) => (run.length < least.length ? run : least))
    const files = Map.groupBy(functions, ({ file }) => file)
    console.log(`${sent.method} ${sent.path}: ${files.size} files, ${functions.length} functions`)
    if (list) for (const [file, found] of files) console.log(`  ${file}: ${found.map(({ name }) => name).join(', ')}`)
  }
} finally {
  session.disconnect()
  await service.close()
  rmSync(folder, { recursive: true })
}

/** The functions that one request calls right after an equal one; a function that it calls often counts once. */
async function called(sent: Sent) {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await send(sent)
  await session.post('Profiler.takePreciseCoverage')
  await send(sent)
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  return result
    .filter(({ url }) => url.startsWith(sources))
    .flatMap(({ url, functions }) =>
      functions
        .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
        .map(({ functionName }) => ({ file: url.slice(sources.length + 1), name: functionName || '(anonymous)' })),
    )
}

function send({ method, path: template, body }: Sent): Promise<void> {
  const path = template.replace('{next}', () => String(next++))
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': body.length }
    const sent = request({ host: new URL(url).hostname, port, method, path, headers }, (response) => {
      response.resume().on('end', () => {
        const { statusCode = 0 } = response
        if (statusCode < 300) resolve()
        else reject(new Error(`${method} ${path} was answered with ${statusCode}`))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
