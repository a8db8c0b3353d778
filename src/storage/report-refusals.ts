import { ServiceError } from '../protocol/errors.ts'
import type { Observe } from '../support/observation.ts'
import { withoutStack } from '../support/without-stack.ts'
import { DatabaseError } from './driver.ts'
import { isOfOtherTable } from './to-service-error.ts'

/** The texts of triggers may contain values, so that no two are the same. */
const maxReported = 100

/**
 * Reports, once each, why the database has refused what a request wanted: the attribute whose column has refused a value that the
 * model accepts, or the words of a constraint or a trigger, of which the client is shown nothing. `onError` receives what no
 * request can change, such as a missing right, a column that was renamed, or a damaged file, which is no outage that ends by itself.
 */
export function reportRefusals(
  observe: Observe | undefined,
  onError: (error: unknown) => void,
): (error: unknown) => void {
  const reported = new Set<string>()
  const isNew = (text: string): boolean => {
    if (reported.has(text) || reported.size >= maxReported) return false
    reported.add(text)
    return true
  }
  return (error) => {
    if (!(error instanceof ServiceError) || !(error.cause instanceof DatabaseError)) return
    const { reason, subject, message: text } = error.cause
    if ((reason.kind === 'refused' || reason.kind === 'missing') && isNew(text)) onError(refusedOperation(error.cause))
    if (reason.kind === 'damaged' && isNew(text)) onError(unusableFile(error.cause))
    if (!observe || !subject || subject.isRead) return
    if (reason.kind !== 'value' && !isOfOtherTable(reason, subject.model)) return
    const model = subject.model.name
    const [attribute] = Object.keys(error.details.invalidAttributes ?? {})
    if (attribute !== undefined && isNew(`${model}.${attribute}`)) observe({ kind: 'valueRefused', model, attribute })
    if (attribute === undefined && isNew(`${model}: ${text}`)) observe({ kind: 'writeRefused', model, text })
  }
}

const unusableFile = ({ message }: DatabaseError): Error =>
  withoutStack(new Error(`The file of the database cannot be read or written (${message}); such requests get 503`))

function refusedOperation({ message, reason, subject }: DatabaseError): Error {
  const name = subject?.model.name
  const what =
    reason.kind === 'missing'
      ? `The database lacks what ${name === undefined ? 'a model' : `the model ${name}`} describes`
      : `The database refuses an operation${name === undefined ? '' : ` of ${name}`}`
  const advice = reason.kind === 'missing' ? '. The next start says what has changed' : ''
  return withoutStack(new Error(`${what} (${message}); such requests get 503${advice}`))
}
