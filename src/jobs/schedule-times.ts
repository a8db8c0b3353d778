import { Cron } from 'croner'
import { intervalMs, type ScheduleTimes } from '../model/schedule.ts'

/** What is wrong with the pattern or the time zone; undefined when both are valid. */
export function scheduleTimesProblem(times: ScheduleTimes): string | undefined {
  try {
    const next = nextTime(times, Date.now(), Date.now())
    return next === undefined ? 'its pattern names no time' : undefined
  } catch (error) {
    return `its pattern or time zone is not valid: ${(error as Error).message}`
  }
}

/** The first time after `after`, in milliseconds. Those of an interval are counted from `since`. */
export function nextTime(times: ScheduleTimes, since: number, after: number): number | undefined {
  if ('every' in times) {
    const every = intervalMs(times.every) as number
    return since + (Math.floor((after - since) / every) + 1) * every
  }
  const { cron, timezone } = times
  const pattern = new Cron(cron, { paused: true, ...(timezone !== undefined && { timezone }) })
  return pattern.nextRun(new Date(after))?.getTime()
}
