import { errorText } from './error-text.ts'
import type { JobObservation, Observation, Observe, PageObservation } from './observation.ts'
import { withoutStack } from './without-stack.ts'

/** The part of the interface of `pino` that a service uses. Each call gets the data of an observation and a text. */
export interface Logger {
  /** Receives each statement and each successful job run. Optional. */
  debug?(data: object, message: string): void
  /** Receives each request, and the reasons for refused pages and tokens. */
  info(data: object, message: string): void
  /** Receives what an operator may act on, such as slow statements, scans and failed job runs. */
  warn(data: object, message: string): void
  /** Receives unexpected errors, dead letters and lost events of jobs. `err` of the data is the error. */
  error(data: object, message: string): void
}

/** A statement that takes longer is a warning. */
const slowStatementMs = 1_000

/** Caused by clients, and no reason for an operator to act. */
const informative: ReadonlySet<Observation['kind']> = new Set(['request', 'pageRefused', 'tokenRefused'])

/** Writes each observation to a logger. */
export const logTo =
  (logger: Logger): Observe =>
  (observation) => {
    if (observation.kind === 'error') {
      const { error } = observation
      logger.error({ err: error }, errorText(error))
    } else if (observation.kind === 'statement' && observation.ms < slowStatementMs)
      logger.debug?.(observation, messageOf(observation))
    else if (informative.has(observation.kind)) logger.info(observation, messageOf(observation))
    else if (observation.kind === 'job' && observation.outcome === 'done')
      logger.debug?.(observation, messageOf(observation))
    else if (observation.kind === 'job' && observation.outcome !== 'failed')
      logger.error({ ...observation, err: observation.error }, messageOf(observation))
    else logger.warn(observation, messageOf(observation))
  }

/** In the message of a socket, a URL may contain them: they would end the line, or command the terminal. */
const controls = /[\p{Cc}\u2028\u2029]/gu

function messageOf(observation: Exclude<Observation, { kind: 'error' }>): string {
  switch (observation.kind) {
    case 'request': {
      const { method, path, status, ms } = observation
      return `${method} ${path.replaceAll(controls, encodeURIComponent)} ${status} ${ms.toFixed(1)} ms`
    }
    case 'statement':
      return `${observation.ms < slowStatementMs ? 'Statement' : 'Slow statement'}, ${observation.ms.toFixed(1)} ms: ${observation.text}`
    case 'clientDisconnected':
      return `A client that did not read its response was disconnected: ${observation.limit}`
    case 'pageRefused':
      return pageMessage(observation)
    case 'tokenRefused':
      return `A token was refused: ${observation.reason}`
    case 'scan': {
      const { model, tables, index } = observation
      const what = tables.length === 0 ? 'takes long' : `reads all rows of ${tables.join(' and ')}`
      const cure = index ? `an index would serve it: indexes: [${JSON.stringify(index)}]` : 'no index can serve it'
      return `A query of ${model} ${what}; ${cure}`
    }
    case 'valueRefused': {
      const { model, attribute } = observation
      return `The database has refused a value of ${model}.${attribute} that the model accepts; a rule such as isIn would say which ones it takes`
    }
    case 'writeRefused':
      return `The database has refused a write of ${observation.model}: ${observation.text}`
    case 'accessDifference': {
      const { model, difference, attribute } = observation
      const what = attribute === undefined ? `a record that is ${difference}` : `the value of "${attribute}"`
      return `The access rules of ${model} differ between the statement and the memory: ${what}`
    }
    case 'job':
      return jobMessage(observation)
    case 'subscriptionLost':
      return 'A client must begin its subscriptions again'
  }
}

function pageMessage({ origin, option }: PageObservation): string {
  if (origin === 'null')
    return 'A page without an origin, such as one that was opened as a file, may not use this service: serve it over HTTP, for example from the folder public'
  const entry = option === 'cors' ? `cors: { origins: ['${origin}'] }` : `sockets: { onlyAllowOrigins: ['${origin}'] }`
  return `Pages of ${origin} may not use this service; the configuration would allow them: ${entry}`
}

/** For the console and `onError`, where there is no logger. */
export const jobError = (message: string, cause: unknown): Error =>
  withoutStack(new Error(message, cause === undefined ? undefined : { cause }))

/** Also for the console, where there is no logger. */
export function jobMessage({ job, outcome, attempt, error, count }: JobObservation): string {
  const reason = errorText(error)
  switch (outcome) {
    case 'done':
      return `Job ${job}: done`
    case 'failed':
      return `Job ${job}: attempt ${attempt} failed and will be repeated: ${reason}`
    case 'dead':
      return `Job ${job}: attempt ${attempt} failed and was the last one; the event is a dead letter: ${reason}`
    case 'eventsLost':
      return `Job ${job}: events were lost, because the change log no longer contains them`
    case 'deadLettersDropped':
      return `Job ${job}: ${count === 1 ? 'the oldest dead letter was' : `the ${count} oldest dead letters were`} dropped, because there were more bytes of them than deadLetterKeepBytes`
  }
}
