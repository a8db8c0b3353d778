/** A fenced code block of a page that is tagged `run`. */
export interface Block {
  readonly kind: 'sh' | 'ts' | 'js'
  readonly text: string
  /** The line of the page on which its text begins. */
  readonly line: number
  /** The expected output: the following block tagged `output`, or the comments below each `console.log`. */
  readonly output: string | undefined
}

export interface Command {
  readonly text: string
  /** The expected output; '' when the page gives none. */
  readonly expected: string
}

const opening = /^```(\w+) run\s*$/
const isKind = (word: string | undefined): word is Block['kind'] => word === 'sh' || word === 'ts' || word === 'js'

/** The blocks tagged `sh run`, `ts run` and `js run`, in order. Throws for `run` in another language. */
export function blocksOf(page: string): readonly Block[] {
  const lines = page.split('\n')
  const blocks: Block[] = []
  for (let index = 0; index < lines.length; index++) {
    if (!lines[index]?.startsWith('```')) continue
    const [, kind] = opening.exec(lines[index] as string) ?? []
    const end = closingFence(lines, index)
    if (isKind(kind)) {
      const text = lines.slice(index + 1, end).join('\n')
      blocks.push({ kind, text, line: index + 2, output: outputAfter(lines, end) ?? outputIn(text) })
    } else if (/\brun\b/.test(lines[index] as string))
      throw new Error(`line ${index + 1}: only sh, ts and js can be run`)
    index = end
  }
  return blocks
}

function closingFence(lines: readonly string[], from: number): number {
  const end = lines.findIndex((line, index) => index > from && line.startsWith('```'))
  if (end === -1) throw new Error(`line ${from + 1}: the block has no end`)
  return end
}

function outputAfter(lines: readonly string[], end: number): string | undefined {
  const next = lines.findIndex((line, index) => index > end && line.trim() !== '')
  return lines[next]?.trim() === '```output' ? lines.slice(next + 1, closingFence(lines, next)).join('\n') : undefined
}

/** The comments directly below each `console.log`. Any output is accepted between them. */
function outputIn(text: string): string | undefined {
  const comments = [...text.matchAll(/console\.log\(.*\n((?:[ \t]*\/\/ .*\n?)+)/g)].map(([, lines]) =>
    lines?.replaceAll(/^[ \t]*\/\/ /gm, ''),
  )
  return comments.length === 0 ? undefined : `…${comments.join('…')}…`
}

/**
 * The commands of a `sh` block: lines that begin with `$ `, continued by a backslash or an open quote, each with its
 * expected output in the lines below. A block without prompts is one command.
 */
export function commandsOf(text: string): readonly Command[] {
  if (!/^\$ /m.test(text)) return [{ text, expected: '' }]
  const commands: { text: string; expected: string[] }[] = []
  for (const line of text.split('\n')) {
    const last = commands.at(-1)
    if (line.startsWith('$ ')) commands.push({ text: line.slice(2), expected: [] })
    else if (last && last.expected.length === 0 && isContinued(last.text)) last.text += `\n${line.replace(/^> /, '')}`
    else last?.expected.push(line)
  }
  return commands.map(({ text, expected }) => ({ text, expected: expected.join('\n').trim() }))
}

const isContinued = (text: string): boolean => text.endsWith('\\') || text.split("'").length % 2 === 0

/** The file name of a program that begins with a comment `// name.ts`. */
export const fileNameOf = ({ text }: Block): string | undefined =>
  /^\/\/ ([\w./-]+\.[jt]s)\s*$/m.exec(text.split('\n', 1)[0] as string)?.[1]
