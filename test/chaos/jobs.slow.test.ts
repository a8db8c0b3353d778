import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createService } from '../../src/index.ts'
import { databaseNamed, databases } from '../support/databases.ts'

/*
 * Processes that kill themselves between a commit and the run of its job, or in a run, while a second one runs the jobs of
 * the same database. KEELSON_TEST_KILLS is the number of kills for each database.
 */

const kills = Number(process.env.KEELSON_TEST_KILLS ?? 24)
const processes = 2
/** No retry and no change of the process that runs the jobs takes this long. */
const idleMs = 8_000
const child = fileURLToPath(new URL('jobs/child.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'keelson-jobs-'))
after(() => rmSync(folder, { recursive: true, force: true }))

interface Result {
  readonly kills: number
  readonly runs: number
  readonly problems: readonly string[]
}

async function run(database: string, count: number, planted = ''): Promise<Result> {
  const file = join(folder, `${Math.random()}.txt`)
  const start = (...args: string[]) => {
    const { NODE_TEST_CONTEXT, ...env } = process.env
    return spawn(process.execPath, [child, database, file, planted, ...args], { stdio: 'ignore', env })
  }
  let killed = 0
  // The tables are created before several processes need them.
  await (
    await createService({
      database,
      onError: () => {},
      models: { item: { attributes: { version: { type: 'number' } } } },
    })
  ).close()
  const lane = async () => {
    while (killed < count) {
      const [, signal] = await once(start(), 'exit')
      assert.equal(signal, 'SIGKILL')
      killed++
    }
  }
  await Promise.all(Array.from({ length: processes }, lane))

  const drain = start('drain')
  try {
    const text = () => (existsSync(file) ? readFileSync(file, 'utf8') : '')
    let problems = await problemsOf(database, text())
    // The runs that are left are done when none is missing, or when there were no more for a while.
    for (let length = -1, idleSince = Date.now(); problems.length > 0 && Date.now() - idleSince < idleMs; ) {
      await sleep(500)
      if (text().length !== length) idleSince = Date.now()
      length = text().length
      problems = await problemsOf(database, text())
    }
    return { kills: killed, runs: text().split('\n').length - 1, problems }
  } finally {
    drain.kill('SIGKILL')
    await once(drain, 'exit')
  }
}

/** Compares the runs with the stored records: each has had the versions from 0 to its own. */
async function problemsOf(database: string, text: string): Promise<readonly string[]> {
  const runs = text.split('\n').filter((line) => line !== '')
  const byRecord = Map.groupBy(runs, (line) => line.split(' ')[0] as string)
  const problems: string[] = []
  await using service = await createService({
    database,
    runJobs: false,
    onError: () => {},
    limits: { maxLimit: 100_000 },
    models: { item: { attributes: { version: { type: 'number' } } } },
  })
  const { data } = await service.system.records.item.find({ limit: 100_000 })
  for (const { id, version } of data) {
    const versions = (byRecord.get(String(id)) ?? []).map((line) => Number(line.split(' ')[1]))
    let highest = -1
    for (const run of versions) {
      if (run > Number(version)) problems.push(`rolled back, and run: ${id} ${run}`)
      if (run > highest + 1) problems.push(`out of order: ${id} ${run} after ${highest}`)
      highest = Math.max(highest, run)
    }
    if (highest < Number(version)) problems.push(`never run: ${id} ${highest + 1}`)
    byRecord.delete(String(id))
  }
  for (const id of byRecord.keys()) problems.push(`no such record: ${id}`)
  return problems
}

for (const { name, missing, open } of databases.filter(({ name }) => name !== 'memory')) {
  test(`killed ${kills} times on ${name}: every job ran, in order, and none for what was rolled back`, {
    skip: missing ?? false,
    timeout: 3_600_000,
  }, async (t) => {
    await using database = await open()
    const { problems, ...counts } = await run(database.url, kills)
    t.diagnostic(JSON.stringify(counts))
    assert.deepEqual(problems, [])
  })
}

test('a position that is stored before the run is found', { timeout: 600_000 }, async () => {
  await using database = await databaseNamed('sqlite').open()
  const { problems } = await run(database.url, 16, 'planted')
  assert.ok(problems.some((text) => /never run|out of order/.test(text)))
})
