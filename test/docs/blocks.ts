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

/** The comments below each `console.log`. Any output is accepted between them. */
function outputIn(text: string): string | undefined {
  const lines = text.split('\n')
  const outputs = lines.flatMap((line, index) => (isPrint(line) ? commentsBelow(lines, index) : []))
  return outputs.length === 0 ? undefined : `…${outputs.join('…')}…`
}

const isPrint = (line: string): boolean => line.includes('console.log(')
const isComment = (line: string | undefined): boolean => /^[ \t]*\/\/ /.test(line ?? '')
const depthOf = (line: string): number => line.length - line.trimStart().length

/**
 * The comments directly below a `console.log`, or below the end of the loop, the branch or the function that it is in, or
 * below what is awaited after it.
 */
function commentsBelow(lines: readonly string[], print: number): readonly string[] {
  const depth = depthOf(lines[print] as string)
  const isPassed = (line: string): boolean =>
    !isComment(line) &&
    !isPrint(line) &&
    (/^\s*[)}\]]+;?$/.test(line) ||
      /^await /.test(line) ||
      depthOf(line) > depth ||
      (depth > 0 && depthOf(line) === depth))
  const from = lines.findIndex((line, index) => index > print && !isPassed(line))
  const to = lines.findIndex((line, index) => index >= from && !isComment(line))
  const comments = from === -1 ? [] : lines.slice(from, to === -1 ? undefined : to)
  return comments.length === 0 ? [] : [comments.map((line) => line.replace(/^[ \t]*\/\/ /, '')).join('\n')]
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
