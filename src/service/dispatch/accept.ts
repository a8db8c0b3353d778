import type { ServiceRequest } from '../../protocol/request.ts'

const eventStream = 'text/event-stream'

/**
 * Whether a request asks for an event stream: `Accept` names the type and prefers no other. A wildcard alone, as curl
 * sends it, does not ask for one.
 */
export function acceptsEventStream({ headers: { accept } }: ServiceRequest): boolean {
  if (accept === undefined || accept === 'application/json') return false
  if (accept === eventStream) return true
  const text = String(accept).toLowerCase()
  return text.includes(eventStream) && preferredMediaType(text) === eventStream
}

interface Range {
  readonly type: string
  readonly isNamed: boolean
  readonly quality: number
}

/** The type with the highest quality; of equal ones the first, and a named type before a wildcard. */
function preferredMediaType(text: string): string | undefined {
  let best: Range | undefined
  for (const range of text.split(',').map(rangeOf)) {
    if (range.quality > 0 && (!best || isBetter(range, best))) best = range
  }
  return best?.type
}

const isBetter = (a: Range, b: Range): boolean =>
  a.quality > b.quality || (a.quality === b.quality && a.isNamed && !b.isNamed)

function rangeOf(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim())
  const quality = parameters.find((part) => part.startsWith('q='))
  return { type, isNamed: !type.includes('*'), quality: quality === undefined ? 1 : Number(quality.slice(2)) }
}
