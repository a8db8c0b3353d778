import { hostileAnswers } from './answers.ts'
import { hostileCrowds } from './crowds.ts'
import type { Hostile } from './hostile.ts'
import { hostileLive } from './live.ts'
import { hostileLongValues } from './long-values.ts'
import { hostileParsing } from './parsing.ts'
import { hostileReads } from './reads.ts'
import { hostileRuled } from './ruled.ts'
import { hostileWrites } from './writes.ts'

/** Requests that were found to block others, or that are made to; the lists grow with each case that is found. */
export const hostileRequests: readonly Hostile[] = [
  ...hostileReads,
  ...hostileAnswers,
  ...hostileParsing,
  ...hostileWrites,
  ...hostileLongValues,
  ...hostileRuled,
  ...hostileLive,
  ...hostileCrowds,
]
