import type { ServiceRequest } from '../protocol/request.ts'

const eventStream = 'text/event-stream'

/**
 * Whether a client asks for a stream: it says so by name, and wants nothing else more. What takes anything, as curl
 * does, is answered like everybody else.
 */
export function wantsStream({ headers: { accept } }: ServiceRequest): boolean {
  if (accept === undefined) return false
  if (accept === eventStream) return true
  const text = String(accept).toLowerCase()
  return text.includes(eventStream) && favourite(text) === eventStream
}

interface Range {
  readonly type: string
  readonly isNamed: boolean
  readonly quality: number
}

/** What is wanted most. Of what is wanted as much it is the first, and nothing in particular comes last. */
function favourite(text: string): string | undefined {
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
