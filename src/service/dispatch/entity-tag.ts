/** The tags of an `If-Match` or `If-None-Match` header. */
function readTags(header: string | readonly string[] | undefined): readonly string[] | '*' | undefined {
  if (header === undefined) return undefined
  const text = Array.isArray(header) ? header.join() : (header as string)
  if (text.trim() === '*') return '*'
  return text.split(',').map((tag) => tag.trim())
}

/** The versions among the tags. A weak tag has none: it does not guarantee that the record is identical. */
export function readVersions(header: string | readonly string[] | undefined): readonly string[] | '*' | undefined {
  const tags = readTags(header)
  if (tags === undefined || tags === '*') return tags
  return tags.map((tag) => /^"([\w-]{22})-[\w-]{22}"$/.exec(tag)?.[1] ?? '')
}

/** Whether the header is `*`, which stands for each version that a record may have. */
export const isAny = (header: string | readonly string[] | undefined): boolean => readTags(header) === '*'

/** Whether `If-None-Match` lists the tag, weak or strong: the client already has this response. */
export function isKnown(tag: string, header: string | readonly string[] | undefined): boolean {
  if (header === tag) return true
  const tags = readTags(header)
  return tags === '*' || (tags?.some((known) => known.replace(/^W\//, '') === tag) ?? false)
}
