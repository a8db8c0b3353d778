/** The text of whatever was thrown. An Error may have a message of another kind, and an object no text. */
export function errorText(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error)
  } catch {
    return 'an object without a text'
  }
}
