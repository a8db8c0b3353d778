import fc from 'fast-check'
import { computedValue } from '../../../src/model/computed.ts'
import type { Json } from '../../../src/protocol/json.ts'
import { type Change, changed, hide, type Mask, patternOf } from './alter.ts'
import { sample } from './sample.ts'
import {
  alphabet,
  computedValuesOf,
  isSpelling,
  type Spelling,
  spell,
  spelling,
  valuesOf as storedValuesOf,
} from './values.ts'

/** A row, and the earlier rows it refers to. Missing values are null. */
export interface Row {
  readonly values: Readonly<Record<string, Json>>
  readonly parent: number | null
  readonly friends: readonly number[]
}

/** A query; its values are derived from rows so that matches and near misses occur. */
export interface Question {
  readonly where: Json
  readonly sort: readonly string[]
  readonly limit: number
  readonly skip: number
  readonly select: readonly string[]
}

export interface Trial {
  readonly rows: readonly Row[]
  readonly questions: readonly Question[]
}

/** A value that is resolved later: fresh, or taken from a row in whole or in part. It shrinks without the rows. */
type Operand =
  | { readonly kind: 'fresh'; readonly value: Json | Spelling }
  | { readonly kind: 'row'; readonly row: number; readonly value: Json | Spelling }
  | {
      readonly kind: 'part'
      readonly row: number
      readonly edge: Edge
      readonly from: number
      readonly length: number
      readonly more: Spelling
      readonly change: Change
    }
  /** A pattern made of a row's text with some characters replaced by wildcards. */
  | { readonly kind: 'mask'; readonly row: number; readonly mask: readonly Mask[] }
  | { readonly kind: 'wildcard'; readonly text: string }
  | { readonly kind: 'pattern'; readonly pieces: readonly Operand[] }

/** Where a part is taken from: the beginning, the end, or anywhere. */
type Edge = 'start' | 'end' | 'any'

/** A condition whose operands are resolved later. */
type Shape =
  | {
      readonly kind: 'compare'
      readonly attribute: string
      readonly operator: string
      readonly operands: readonly Operand[]
    }
  | { readonly kind: 'and' | 'or'; readonly shapes: readonly Shape[] }
  | { readonly kind: 'not' | 'parent' | 'children' | 'friends' | 'friendOf'; readonly shape: Shape }

const valuesOf = { ...storedValuesOf, ...computedValuesOf }
const stored = Object.keys(storedValuesOf)
const attributes = Object.keys(valuesOf)
const textual = ['text', 'other', 'joined', 'first']
const unordered = ['flag', 'isTwin', 'json', 'bytes']
const opaque = ['json', 'bytes']

const searching = ['contains', 'startsWith', 'endsWith', 'like', 'ilike']

const mostRows = 10
const rowNumber = fc.nat({ max: mostRows })

const row = fc.record({
  values: fc.record(
    Object.fromEntries(
      stored.map((name) => [name, fc.option(valuesOf[name] as fc.Arbitrary<Json | Spelling>, { freq: 4, nil: null })]),
    ),
  ),
  parent: fc.option(rowNumber, { freq: 2, nil: null }),
  friends: fc.array(rowNumber, { maxLength: 2 }),
})

const partAt = (edge: Edge) =>
  fc.record({
    kind: fc.constant('part' as const),
    row: rowNumber,
    edge: fc.constant(edge),
    from: fc.nat(3),
    length: fc.nat(3),
    more: fc.oneof({ weight: 2, arbitrary: fc.constant({ letters: [] }) }, { weight: 1, arbitrary: spelling }),
    change: fc.constantFrom<Change>('none', 'none', 'none', 'flip', 'before', 'behind', 'blank'),
  })
const wildcard = fc
  .constantFrom('%', '%', '_', '\\%', '\\_', '\\\\', '\\')
  .map((text): Operand => ({ kind: 'wildcard', text }))
const pattern = fc
  .array(fc.oneof(wildcard, partAt('any')), { minLength: 1, maxLength: 5 })
  .map((pieces): Operand => ({ kind: 'pattern', pieces }))

const masked = fc.record({
  kind: fc.constant('mask' as const),
  row: rowNumber,
  mask: fc.array(fc.constantFrom<Mask>('keep', 'keep', 'flip', 'one', 'any', 'escape'), { minLength: 1, maxLength: 4 }),
})

function operandFor(attribute: string, operator: string): fc.Arbitrary<Operand> {
  if (operator.endsWith('like')) return fc.oneof({ weight: 2, arbitrary: masked }, { weight: 1, arbitrary: pattern })
  const value = valuesOf[attribute] as fc.Arbitrary<Json | Spelling>
  const fresh = value.map((value): Operand => ({ kind: 'fresh', value }))
  const whole = fc.tuple(rowNumber, value).map(([row, value]): Operand => ({ kind: 'row', row, value }))
  const edge = operator === 'startsWith' ? 'start' : operator === 'endsWith' ? 'end' : 'any'
  if (!textual.includes(attribute)) return fc.oneof({ weight: 3, arbitrary: whole }, { weight: 1, arbitrary: fresh })
  return fc.oneof(
    { weight: 2, arbitrary: whole },
    { weight: 4, arbitrary: partAt(edge) },
    { weight: 1, arbitrary: fresh },
  )
}

function modifiersFor(attribute: string): readonly string[] {
  if (opaque.includes(attribute)) return ['=', 'null', 'not null']
  const all = ['=', '!=', 'in', 'nin', 'list', 'null', 'not null']
  if (!unordered.includes(attribute)) all.push('<', '<=', '>', '>=')
  return textual.includes(attribute) ? [...all, ...searching, ...searching, ...searching] : all
}

const comparison: fc.Arbitrary<Shape> = fc
  .constantFrom(...attributes, ...Array<readonly string[]>(4).fill(textual).flat())
  .chain((attribute) => fc.tuple(fc.constant(attribute), fc.constantFrom(...modifiersFor(attribute))))
  .chain(([attribute, operator]) => {
    const isList = ['in', 'nin', 'list'].includes(operator)
    const operands = fc.array(
      operandFor(attribute, operator),
      isList ? { maxLength: 3 } : { minLength: 1, maxLength: 1 },
    )
    return operands.map((operands): Shape => ({ kind: 'compare', attribute, operator, operands }))
  })

const shape: fc.Arbitrary<Shape> = fc.letrec<{ shape: Shape }>((tie) => ({
  shape: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    { weight: 6, arbitrary: comparison },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constantFrom('and' as const, 'or' as const),
        shapes: fc.array(tie('shape'), { maxLength: 3 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('not' as const), shape: tie('shape') }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constantFrom('parent' as const, 'children' as const, 'friends' as const, 'friendOf' as const),
        shape: tie('shape'),
      }),
    },
  ),
})).shape

const ordered = ['id', ...attributes.filter((name) => !unordered.includes(name))]
const sortable = [
  ...ordered,
  ...Array<readonly string[]>(4).fill(textual).flat(),
  ...ordered.map((name) => `parent.${name}`),
]

const asked = fc.record({
  shape,
  sort: fc
    .uniqueArray(fc.tuple(fc.constantFrom(...sortable), fc.constantFrom('ASC', 'DESC')), {
      selector: ([name]) => name,
      maxLength: 3,
    })
    .map((terms) => terms.map(([name, direction]) => `${name} ${direction}`)),
  limit: fc.oneof({ weight: 2, arbitrary: fc.constant(100) }, { weight: 1, arbitrary: fc.nat({ max: mostRows }) }),
  skip: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: mostRows }) }),
  select: fc.oneof(
    { weight: 2, arbitrary: fc.constant(attributes) },
    { weight: 1, arbitrary: fc.subarray(attributes) },
  ),
})

/** Rows and queries about them. Every part is generated independently and combined at the end, so that it shrinks. */
export const trial: fc.Arbitrary<Trial> = fc
  .record({
    alphabet,
    rows: fc.array(row, { minLength: 1, maxLength: mostRows }),
    asked: fc.array(asked, { minLength: 1, maxLength: 20, size: 'max' }),
  })
  .map(({ alphabet, rows, asked }) => {
    const written = (value: Json | Spelling): Json => (isSpelling(value) ? spell(value, alphabet) : value)
    const complete = rows.map(
      ({ values, ...rest }): Row => ({
        ...rest,
        values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, written(value)])),
      }),
    )
    const resolve = resolver(complete, written)
    return {
      rows: complete,
      questions: asked.map(({ shape, ...rest }): Question => ({ ...rest, where: whereOf(shape, resolve) })),
    }
  })

type Resolve = (operand: Operand, attribute: string) => Json

function whereOf(shape: Shape, resolve: Resolve): Json {
  switch (shape.kind) {
    case 'and':
    case 'or':
      return { [shape.kind]: shape.shapes.map((part) => whereOf(part, resolve)) }
    case 'compare':
      return { [shape.attribute]: comparisonOf(shape, resolve) }
    default:
      return { [shape.kind]: whereOf(shape.shape, resolve) }
  }
}

function comparisonOf({ attribute, operator, operands }: Shape & { kind: 'compare' }, resolve: Resolve): Json {
  const values = operands.map((operand) => resolve(operand, attribute))
  switch (operator) {
    case 'null':
      return null
    case 'not null':
      return { '!=': null }
    case 'list':
      return values
    case 'in':
    case 'nin':
      return { [operator]: values }
    case '=':
      return attribute === 'json' ? JSON.stringify(values[0]) : (values[0] as Json)
    default:
      return { [operator]: values[0] as Json }
  }
}

function resolver(rows: readonly Row[], written: (value: Json | Spelling) => Json): Resolve {
  const inRow = (row: number, name: string): Json => {
    const values = rows[row % rows.length]?.values ?? {}
    const computed = sample.computed.get(name)
    return computed ? computedValue(computed, values) : (values[name] ?? null)
  }
  const resolve: Resolve = (operand, attribute) => {
    switch (operand.kind) {
      case 'fresh':
        return written(operand.value)
      case 'row':
        return inRow(operand.row, attribute) ?? written(operand.value)
      case 'wildcard':
        return operand.text
      case 'part': {
        const { row, more, change } = operand
        const text = cut([...String(inRow(row, attribute) ?? '')], operand).join('')
        return changed(text + written(more), change)
      }
      case 'mask':
        return patternOf(hide([...String(inRow(operand.row, attribute) ?? '')], operand.mask))
      case 'pattern':
        return patternOf(operand.pieces.map((piece) => resolve(piece, attribute)).join(''))
    }
  }
  return resolve
}

function cut(characters: readonly string[], { edge, from, length }: Operand & { kind: 'part' }): readonly string[] {
  if (edge === 'start') return characters.slice(0, length + 1)
  return edge === 'end' ? characters.slice(-length - 1) : characters.slice(from, from + length + 1)
}
