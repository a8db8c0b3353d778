import { isThenable } from './maybe-promise.ts'

/**
 * Whether the values of an object are its properties. Those of a Map, a form, a Response or a promise that was not awaited are
 * not: read as an object, each of them is an empty one.
 */
export const hasProperties = (value: unknown): value is Readonly<Record<string, unknown>> =>
  Object.prototype.toString.call(value) === '[object Object]' && !isThenable(value)
