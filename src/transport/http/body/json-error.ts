/**
 * The position of the first character that makes a text invalid JSON; the text's length when it ends too early or is
 * valid. The messages of JSON.parse name the position only in some cases, and differ between engine versions.
 */
export function findJsonError(text: string): number {
  const open: ('}' | ']')[] = []
  let expected: 'value' | 'value or end' | 'name' | 'name or end' | 'separator' = 'value'
  let at = 0
  for (;;) {
    at = after(space, text, at)
    const char = text[at]
    if (char === undefined) return at
    const closing = open.at(-1)

    if (char === closing && expected !== 'value' && expected !== 'name') {
      open.pop()
      at++
      expected = 'separator'
    } else if (expected === 'separator') {
      if (char !== ',' || closing === undefined) return at
      at++
      expected = closing === '}' ? 'name' : 'value'
    } else if (expected === 'name' || expected === 'name or end') {
      if (char !== '"') return at
      const name = readString(text, at)
      if (!name.closed) return name.end
      at = after(space, text, name.end)
      if (text[at] !== ':') return at
      at++
      expected = 'value'
    } else if (char === '{' || char === '[') {
      open.push(char === '{' ? '}' : ']')
      at++
      expected = char === '{' ? 'name or end' : 'value or end'
    } else if (char === '"') {
      const value = readString(text, at)
      if (!value.closed) return value.end
      at = value.end
      expected = 'separator'
    } else {
      const end = after(word, text, at)
      if (end === at) return at
      at = end
      expected = 'separator'
    }
  }
}

const space = /[ \t\n\r]*/y
const word = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
/** Characters that need no escape: from the space on, without the quote and the backslash. */
const plain = /[ !#-[\]-\uffff]*/y
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

/** The position behind the closing quote of the string that begins at `at`, or of its first invalid character. */
function readString(text: string, at: number): { readonly end: number; readonly closed: boolean } {
  let end = after(plain, text, at + 1)
  while (text[end] === '\\') {
    const next = after(escaped, text, end)
    if (next === end) return { end, closed: false }
    end = after(plain, text, next)
  }
  return text[end] === '"' ? { end: end + 1, closed: true } : { end, closed: false }
}

function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return at + (pattern.exec(text)?.[0].length ?? 0)
}
