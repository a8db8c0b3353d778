import { createRequire } from 'node:module'
import type { SaxesParser } from 'saxes'
import { tooDeep } from '../../../protocol/body-depth.ts'
import { ServiceError } from '../../../protocol/errors.ts'
import type { Json } from '../../../protocol/json.ts'
import type { Limits } from '../../../support/limits.ts'
import type { BodyFormat } from '../body-format.ts'

/**
 * One element whose children are the attributes of a record, whatever it is called itself. Elements of one name make a
 * list, an empty one is an empty text, and attributes of elements mean nothing. No document types, so no entities but
 * XML's own five.
 */
export const xml: BodyFormat = {
  name: 'application/xml',
  accepts: (type) => type === 'application/xml' || type === 'text/xml' || type.endsWith('+xml'),
  parse: (text, limits) => new XmlReader(limits).read(text),
}

interface Element {
  readonly children: Map<string, Json | Json[]>
  text: string
}

class XmlReader {
  readonly #limits: Limits
  readonly #open: Element[] = []
  #elements = 0
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
      throw bad('A document type is not taken in an XML body')
    })
    parser.on('xmldecl', ({ encoding }) => {
      if (encoding !== undefined && encoding.toLowerCase() !== 'utf-8')
        throw bad('The encoding of an XML body can only be UTF-8')
    })
    parser.on('opentag', () => this.#begin())
    parser.on('text', (piece) => this.#add(piece))
    parser.on('cdata', (piece) => this.#add(piece))
    parser.on('closetag', ({ name }) => this.#end(name))
    parser.write(text).close()
    if (typeof this.#root !== 'object' || this.#root === null)
      throw bad('The body must be an element with the attributes of a record in it')
    return this.#root
  }

  #begin(): void {
    if (this.#open.length >= this.#limits.maxJsonDepth) throw tooDeep(this.#limits)
    if (++this.#elements > this.#limits.maxParameters) {
      throw bad(`The body has more than ${this.#limits.maxParameters} elements`, 'maxParameters')
    }
    this.#open.push({ children: new Map(), text: '' })
  }

  #add(piece: string): void {
    const element = this.#open.at(-1)
    if (element) element.text += piece
  }

  #end(name: string): void {
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
  if (text.trim() !== '') throw bad(`<${name.slice(0, 60)}> has both elements and text in it`)
  // Whatever it is called, a child is a member and nothing else.
  return Object.assign(Object.create(null), Object.fromEntries(children))
}

/** Loaded when the first such body comes: most services never see one. */
function newParser(): SaxesParser {
  const { SaxesParser } = createRequire(import.meta.url)('saxes') as typeof import('saxes')
  return new SaxesParser({ xmlns: false })
}

const bad = (message: string, limit?: string): ServiceError =>
  new ServiceError('E_BAD_BODY', message, limit === undefined ? {} : { limit })
