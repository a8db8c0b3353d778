/** The length to which PostgreSQL truncates names. */
const maxBytes = 63

/**
 * The name of an index or a constraint: `pet_name_key`. Names that differ in `details` only, and names that are too long,
 * end in a hash, so that they are distinct and always the same.
 */
export function schemaName(parts: readonly string[], kind: string, details?: string): string {
  const name = [...parts, kind].join('_')
  if (details === undefined && Buffer.byteLength(name) <= maxBytes) return name
  const suffix = details === undefined ? `_${hash(name)}` : `_${hash(name + details)}`
  return truncated(name, maxBytes - suffix.length) + suffix
}

/** The longest prefix of complete characters with at most this many bytes. */
function truncated(text: string, bytes: number): string {
  const buffer = Buffer.from(text)
  if (buffer.length <= bytes) return text
  let end = bytes
  while (end > 0 && ((buffer[end] as number) & 0xc0) === 0x80) end--
  return buffer.toString('utf8', 0, end)
}

function hash(text: string): string {
  let value = 5381
  for (let index = 0; index < text.length; index++) value = ((value * 33) ^ text.charCodeAt(index)) >>> 0
  return value.toString(36).padStart(7, '0')
}
