import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextTime } from './schedule-times.ts'

/** The times of a pattern from noon (UTC) on, on the day before the clock changes, for a day. */
function timesFrom(day: string, timezone: string, cron: string): readonly string[] {
  const from = Date.parse(`${day}T12:00Z`)
  const times: string[] = []
  for (let at = nextTime({ cron, timezone }, from, from); at !== undefined && at <= from + 86_400_000; ) {
    times.push(new Date(at).toISOString().slice(11, 16))
    at = nextTime({ cron, timezone }, from, at)
  }
  return times
}

for (const [what, day, timezone, cron, times] of [
  ['a time that is left out is at the end of the gap', '2026-03-28', 'Europe/Berlin', '30 2 * * *', ['01:00']],
  ['a time that is left out is at the end of the gap', '2026-03-07', 'America/New_York', '30 2 * * *', ['07:00']],
  ['a time that is left out is at the end of the gap', '2026-10-03', 'Australia/Lord_Howe', '15 2 * * *', ['15:30']],
  ['a time that occurs twice is the first of them', '2026-10-24', 'Europe/Berlin', '30 2 * * *', ['00:30']],
  ['a time that occurs twice is the first of them', '2026-10-31', 'America/New_York', '30 1 * * *', ['05:30']],
  ['a time that occurs twice is the first of them', '2026-04-04', 'Australia/Lord_Howe', '45 1 * * *', ['14:45']],
  ['midnight is left out', '2026-09-05', 'America/Santiago', '0 0 * * *', ['04:00']],
  ['of several hours, one is left out', '2026-03-28', 'Europe/Berlin', '30 1,2,3 * * *', ['00:30', '01:30']],
  ['of several, one is twice', '2026-10-24', 'Europe/Berlin', '30 1,2,3 * * *', ['23:30', '00:30', '01:30', '02:30']],
] as const)
  test(`the clock changes, ${what}: ${cron} in ${timezone}`, () => {
    assert.deepEqual(timesFrom(day, timezone, cron), times)
  })

test('the clock changes, and each hour has its time', () => {
  for (const day of ['2026-03-28', '2026-10-24'])
    assert.equal(timesFrom(day, 'Europe/Berlin', '0 * * * *').length, 24, day)
})
