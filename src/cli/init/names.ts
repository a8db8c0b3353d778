import pluralize from 'pluralize'
import { attributeNameProblem, folded, modelNameProblem } from '../../model/names.ts'

/** The words of a name such as `invoice_line`, `InvoiceLine`, `userID` or `HTTPServer`, in lower case. */
export function wordsOf(name: string): readonly string[] {
  const plain = name.normalize('NFD').replaceAll(/\p{M}/gu, '')
  const words = plain.match(/[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+/g) ?? []
  return words.map((word) => word.toLowerCase())
}

export function camelCase(words: readonly string[]): string {
  const [first = '', ...others] = words
  const name = first + others.map(capitalized).join('')
  return /^\d/.test(name) ? `_${name}` : name
}

export const capitalized = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)
export const plural = (name: string): string => pluralize.plural(name)

/** Plurals that end with `s`, and two others. `data` and `media` are not among them: they are as common in the singular. */
const pluralWord = /^(?:\w{3,}(?<!s)s|\w+sses|people|children)$/

/** `invoice_lines` and `InvoiceLine` are `invoiceLine`. */
export function singularName(table: string): string {
  const words = wordsOf(table)
  const last = words.at(-1) ?? ''
  return camelCase([...words.slice(0, -1), pluralWord.test(last) ? pluralize.singular(last) : last])
}

/** `ArtistId` refers to an `artist`, and `countryCode` to a `country` whose key is `code`. */
export function withoutKeySuffix(name: string, key: string): string {
  const suffix = ['Id', 'Fk', capitalized(key)].find((suffix) => name.endsWith(suffix) && name !== suffix)
  return suffix === undefined ? name : name.slice(0, -suffix.length)
}

/** Gives each name once, whatever its letter case. */
export class Names {
  readonly #used = new Set<string>()
  readonly #problem: (name: string) => string | undefined
  readonly #suffix: string

  /** `suffix` is added to names that are not allowed. */
  constructor(problem: (name: string) => string | undefined, suffix: string) {
    this.#problem = problem
    this.#suffix = suffix
  }

  /** The first of these names that is free, or the last one with a number. */
  take(...wanted: readonly string[]): string {
    const allowed = wanted.map((name) => (this.#problem(name) === undefined ? name : this.#allowed(name)))
    const last = allowed.at(-1) as string
    for (let number = 2; ; number++) {
      const free = allowed.find((name) => !this.#used.has(folded(name)))
      if (free !== undefined) {
        this.#used.add(folded(free))
        return free
      }
      allowed.splice(0, allowed.length, `${last}${number}`)
    }
  }

  #allowed(name: string): string {
    const words = wordsOf(name)
    return camelCase([...words, this.#suffix])
  }
}

/** `live` is the address of live queries. */
export const modelNames = (): Names =>
  new Names((name) => (folded(name) === 'live' ? 'reserved' : modelNameProblem(name)), 'record')

export const attributeNames = (): Names => new Names(attributeNameProblem, 'value')
