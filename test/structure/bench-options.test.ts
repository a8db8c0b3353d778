import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { root } from '../support/command.ts'

/** Far longer than a refusal takes; ends a benchmark that begins instead. */
const timeout = 15_000

describe('a benchmark refuses', () => {
  for (const { args, message } of [
    { args: ['run.ts', '--database', 'postgresql'], message: /--database is sqlite, postgres or all/ },
    { args: ['run.ts', 'blocking', '--database', 'postgresql'], message: /--database is sqlite, postgres or all/ },
    { args: ['run.ts', 'access', '--database', 'postgresql'], message: /--database is sqlite, postgres or all/ },
    { args: ['run.ts', 'blocking', '--database', 'postgres'], message: /KEELSON_TEST_POSTGRES names no server/ },
    { args: ['run.ts', '--only', 'list,lits'], message: /There is no lits; there are .*list/ },
    { args: ['run.ts', 'access', '--only', 'listners'], message: /There is no listners; there are .*listeners/ },
    { args: ['run.ts', 'blocking', '--only', 'count;conut'], message: /There is no name with "conut" in it/ },
    { args: ['live.ts', '--only', 'fanout'], message: /There is no fanout; there are / },
  ])
    test(args.join(' '), () => {
      const { KEELSON_TEST_POSTGRES: _, ...env } = process.env
      const [file = '', ...options] = args
      const { status, stderr } = spawnSync(process.execPath, [join(root, 'bench', file), ...options], { env, timeout })
      assert.match(String(stderr), message)
      assert.equal(status, 1)
    })
})
