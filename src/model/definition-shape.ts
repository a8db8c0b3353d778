import { types } from 'node:util'
import type { AttributeDefinition, ModelDefinition } from './definition.ts'

/** What may stand behind a word of a definition. */
interface Kind {
  readonly noun: string
  readonly accepts: (value: unknown) => boolean
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const flag: Kind = { noun: 'true or false', accepts: (value) => typeof value === 'boolean' }
const word: Kind = { noun: 'a text', accepts: (value) => typeof value === 'string' && value !== '' }
const number: Kind = { noun: 'a number', accepts: (value) => Number.isFinite(value) }
const list: Kind = { noun: 'a list', accepts: Array.isArray }
const pattern: Kind = { noun: 'a regular expression', accepts: types.isRegExp }
const call: Kind = { noun: 'a function', accepts: (value) => typeof value === 'function' }
const object: Kind = { noun: 'an object', accepts: isObject }
const anything: Kind = { noun: 'anything', accepts: () => true }
/** Some libraries make their schemas functions. */
const schema: Kind = {
  noun: 'a Standard Schema (zod, valibot, arktype)',
  accepts: (value) =>
    (isObject(value) || typeof value === 'function') &&
    typeof (value as { '~standard'?: { validate?: unknown } })['~standard']?.validate === 'function',
}
const way: Kind = {
  noun: 'the name of a model, or { tableName, from, to }',
  accepts: (value) =>
    word.accepts(value) ||
    (isObject(value) &&
      Object.keys(value).sort().join() === 'from,tableName,to' &&
      Object.values(value).every(word.accepts)),
}

const attributeWords: { readonly [Word in keyof AttributeDefinition]-?: Kind } = {
  type: word,
  columnName: word,
  columnType: word,
  primaryKey: flag,
  autoIncrement: flag,
  autoCreatedAt: flag,
  autoUpdatedAt: flag,
  unique: flag,
  required: flag,
  allowNull: flag,
  defaultsTo: anything,
  isIn: list,
  min: number,
  max: number,
  minLength: number,
  maxLength: number,
  isEmail: flag,
  isURL: flag,
  isInteger: flag,
  isUUID: flag,
  regex: pattern,
  custom: call,
  schema,
  description: word,
  model: word,
  collection: word,
  via: word,
  through: way,
}

const modelWords: { readonly [Word in keyof ModelDefinition]-?: Kind } = {
  tableName: word,
  primaryKey: word,
  attributes: object,
  description: word,
}

/** A definition without what is wrong in it, and what that is. Unknown words are named, never passed over. */
export interface Shaped<Definition> {
  readonly sound: Definition
  readonly problems: readonly string[]
}

export const shapeModel = (definition: unknown): Shaped<ModelDefinition> => shape(definition, modelWords, 'a model')

export const shapeAttribute = (definition: unknown): Shaped<AttributeDefinition> =>
  shape(definition, attributeWords, 'an attribute')

function shape(definition: unknown, words: { readonly [word: string]: Kind }, what: string): Shaped<object> {
  if (!isObject(definition)) return { sound: {}, problems: [`the definition of ${what} must be an object`] }
  const sound: Record<string, unknown> = {}
  const problems: string[] = []
  for (const [word, value] of Object.entries(definition)) {
    const kind = Object.hasOwn(words, word) ? words[word] : undefined
    if (value === undefined) continue
    if (kind === undefined) problems.push(`\`${word}\` means nothing in the definition of ${what}`)
    else if (kind.accepts(value)) sound[word] = value
    else problems.push(`\`${word}\` must be ${kind.noun}`)
  }
  return { sound, problems }
}

/** All that may be said of an association. */
const toOneWords = ['model', 'columnName', 'columnType', 'required', 'allowNull', 'unique', 'description']
const toManyWords = ['collection', 'via', 'through', 'description']

/** What does not go together in an attribute: words that would be passed over. */
export function combinationProblems(definition: AttributeDefinition): string[] {
  const { model, collection } = definition
  if (model !== undefined && collection !== undefined) return ['it is either a `model` or a `collection`, not both']
  if (model !== undefined) return strangers(definition, toOneWords, '`model`')
  if (collection !== undefined) return strangers(definition, toManyWords, '`collection`')
  return ['via', 'through']
    .filter((word) => Object.hasOwn(definition, word))
    .map((word) => `\`${word}\` needs a \`collection\``)
}

function strangers(definition: AttributeDefinition, words: readonly string[], beside: string): string[] {
  return Object.entries(definition)
    .filter(([word, value]) => !words.includes(word) && (value !== false || word === 'defaultsTo'))
    .map(([word]) => `\`${word}\` does not go with ${beside}`)
}
