/** The tags of an `If-Match` or `If-None-Match` header. */
function readTags(header: string | readonly string[] | undefined): readonly string[] | '*' | undefined {
  const text = textOf(header)
  if (text?.trim() === '*') return '*'
  return text?.split(',').map((tag) => tag.trim())
}

const textOf = (header: string | readonly string[] | undefined): string | undefined =>
  Array.isArray(header) ? header.join() : (header as string | undefined)

/** The versions among the tags. A weak tag has none: it does not guarantee that the record is identical. */
export function readVersions(header: string | readonly string[] | undefined): readonly string[] | '*' | undefined {
  const tags = readTags(header)
  if (tags === undefined || tags === '*') return tags
  return tags.map((tag) => /^"([\w-]{22})-[\w-]{22}"$/.exec(tag)?.[1] ?? '')
}

/** Whether the header is `*`, which stands for each version that a record may have. */
export const isAny = (header: string | readonly string[] | undefined): boolean => textOf(header)?.trim() === '*'

/**
 * Whether `If-None-Match` lists the tag, weak or strong: the client already has this response. The header may list thousands, so it is
 * searched without being split.
 */
export function isKnown(tag: string, header: string | readonly string[] | undefined): boolean {
  if (header === tag) return true
  const text = textOf(header)
  if (text === undefined) return false
  for (let at = text.indexOf(tag); at !== -1; at = text.indexOf(tag, at + 1))
    if (isItem(text, at, at + tag.length)) return true
  return text.trim() === '*'
}

/** Whether these characters are one item of a list, after `W/` where the tag is weak. */
function isItem(list: string, from: number, to: number): boolean {
  let before = from
  if (list[before - 1] === '/' && list[before - 2] === 'W') before -= 2
  while (isSpace(list[before - 1])) before--
  let after = to
  while (isSpace(list[after])) after++
  return (before === 0 || list[before - 1] === ',') && (after === list.length || list[after] === ',')
}

const isSpace = (character: string | undefined): boolean => character === ' ' || character === '\t'
