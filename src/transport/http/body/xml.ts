import { createRequire } from 'node:module'
import type { SaxesParser } from 'saxes'
import { tooDeep } from '../../../protocol/body-depth.ts'
import { ServiceError } from '../../../protocol/errors.ts'
import type { Json } from '../../../protocol/json.ts'
import type { Limits } from '../../../support/limits.ts'
import type { BodyFormat } from '../body-format.ts'

/**
 * A root element of any name whose children are the attributes of a record. Repeated elements form a list, an empty
 * element is an empty string, and attributes of elements are ignored. Document types are refused, so the only entities
 * are the five that XML predefines.
 */
export const xml: BodyFormat = {
  name: 'application/xml',
  accepts: (type) => type === 'application/xml' || type === 'text/xml' || type.endsWith('+xml'),
  parse(text, limits) {
    const { maxXmlBytes } = limits
    if (Buffer.byteLength(text) > maxXmlBytes)
      throw new ServiceError('E_BODY_TOO_LARGE', `The XML body is larger than ${maxXmlBytes} bytes`, {
        limit: 'maxXmlBytes',
      })
    return new XmlReader(limits).read(text)
  },
}

interface Element {
  readonly children: Map<string, Json | Json[]>
  text: string
}

class XmlReader {
  readonly #limits: Limits
  readonly #open: Element[] = []
  #nodes = 0
  #root: Json | undefined

  constructor(limits: Limits) {
    this.#limits = limits
  }

  read(text: string): Json {
    const parser = newParser()
    parser.on('error', ({ message }) => {
      throw bad(`The body is not well-formed XML: ${message.slice(0, 80)}`)
    })
    parser.on('doctype', () => {
      throw bad('An XML body must not contain a document type')
    })
    parser.on('xmldecl', ({ encoding }) => {
      if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8')
        throw bad('The encoding of an XML body must be UTF-8')
    })
    parser.on('attribute', () => this.#count())
    parser.on('opentag', () => this.#openElement())
    parser.on('text', (piece) => this.#appendText(piece))
    parser.on('cdata', (piece) => this.#appendText(piece))
    parser.on('closetag', ({ name }) => this.#closeElement(name))
    parser.write(text).close()
    if (typeof this.#root !== 'object' || this.#root === null)
      throw bad('The body must be an element that contains the attributes of a record')
    return this.#root
  }

  #openElement(): void {
    if (this.#open.length >= this.#limits.maxJsonDepth) throw tooDeep(this.#limits)
    this.#count()
    this.#open.push({ children: new Map(), text: '' })
  }

  #count(): void {
    if (++this.#nodes > this.#limits.maxParameters)
      throw bad(`The body has more than ${this.#limits.maxParameters} elements and attributes`, 'maxParameters')
  }

  #appendText(piece: string): void {
    const element = this.#open.at(-1)
    if (element) element.text += piece
  }

  #closeElement(name: string): void {
    const element = this.#open.pop() as Element
    const parent = this.#open.at(-1)
    const value = contentOf(element, name)
    if (!parent) {
      this.#root = value
      return
    }
    const before = parent.children.get(name)
    if (before === undefined) parent.children.set(name, value)
    else if (Array.isArray(before)) before.push(value)
    else parent.children.set(name, [before as Json, value])
  }
}

function contentOf({ children, text }: Element, name: string): Json {
  if (children.size === 0) return text
  if (text.trim() !== '') throw bad(`<${name.slice(0, 60)}> contains both elements and text`)
  // No prototype: a child named `__proto__` is a member like any other.
  return Object.assign(Object.create(null), Object.fromEntries(children))
}

/** Loaded with the first XML body: most services never receive one. */
function newParser(): SaxesParser {
  const { SaxesParser } = createRequire(import.meta.url)('saxes') as typeof import('saxes')
  return new SaxesParser({ xmlns: false })
}

const bad = (message: string, limit?: string): ServiceError =>
  new ServiceError('E_BAD_BODY', message, limit === undefined ? {} : { limit })
