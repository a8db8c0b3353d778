import assert from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { defaultLimits } from '../../../support/limits.ts'
import { scansAtOnce } from './scan-slots.ts'

const { maxServerScans } = defaultLimits
const onThisMachine = Math.min(maxServerScans, Math.max(2, availableParallelism()))

for (const [url, limit, expected] of [
  ['postgres://app@db.example.org/shop', maxServerScans, maxServerScans],
  ['postgres://app@db.example.org/shop', 16, 16],
  ['postgres://app@localhost/shop', maxServerScans, onThisMachine],
  ['postgres://app@127.0.0.1:5433/shop', maxServerScans, onThisMachine],
  ['postgres://app@[::1]/shop', maxServerScans, onThisMachine],
  ['postgres:///shop?host=/var/run/postgresql', maxServerScans, onThisMachine],
  ['postgres://app@localhost/shop', 1, 1],
] as const)
  test(`scans at once on ${url}, of ${limit}: ${expected}`, () => assert.equal(scansAtOnce(url, limit), expected))
