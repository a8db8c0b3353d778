/** Names that say how to answer. In an address they are never attributes; the body of a write may use them as such. */
export const reserved: ReadonlySet<string> = new Set([
  'where',
  'limit',
  'skip',
  'sort',
  'select',
  'omit',
  'populate',
  'count',
  'cursor',
  'callback',
  '_',
])
