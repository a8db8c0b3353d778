import { actionFor, schedule, type TransactionRecords } from 'keelson'
import * as v from 'valibot'
import type { Models } from './models.ts'

type Tables = Pick<TransactionRecords<Models>, 'order' | 'report'>

/** The orders of a day that were not cancelled. Written again, it is the same row. */
async function writeReport(day: string, { order, report }: Tables) {
  const where = { state: 'placed', createdAt: { '>=': `${day}T00:00:00.000Z`, '<=': `${day}T23:59:59.999Z` } } as const
  let [orders, revenue] = [0, 0]
  for (let skip = 0; ; skip += 500) {
    const { data, next } = await order.find({ where, sort: 'id', limit: 500, skip })
    orders += data.length
    revenue += data.reduce((sum, { total }) => sum + total, 0)
    if (next === null) break
  }
  const values = { orders, revenue }
  return (await report.findOne(day)) ? report.update(day, values) : report.create({ day, ...values })
}

/** At three in the morning, of the day before. */
export const nightlyReport = schedule({ cron: '0 3 * * *', timezone: 'UTC' }, async ({ scheduledAt, system }) => {
  const dayBefore = new Date(Date.parse(scheduledAt) - 86_400_000).toISOString().slice(0, 10)
  await writeReport(dayBefore, system.records)
})

/** POST /report/write, for any day. */
export const write = actionFor<Models, 'report'>()({
  on: 'model',
  access: 'staff',
  input: v.object({ day: v.pipe(v.string(), v.isoDate()) }),
  run: ({ input, system }) => writeReport(input.day, system.records),
})
