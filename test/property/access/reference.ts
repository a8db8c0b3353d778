import type { Json } from '../../../src/protocol/json.ts'
import { type Condition, type ModelName, modelNames, type Row, type Rules, stored, type World } from './world.ts'

/* The plain reading of the rules: what a requester may see is a database of its own. */

export type Visible = World

const toOnes: Readonly<Record<string, ModelName>> = {
  'person.boss': 'person',
  'pet.owner': 'person',
  'membership.person': 'person',
  'membership.club': 'club',
}
const toManys: Readonly<Record<string, (row: Row, world: World) => readonly [ModelName, readonly Row[]]>> = {
  'person.pets': ({ id }, { pet }) => ['pet', pet.filter(({ owner }) => owner === id)],
  'person.staff': ({ id }, { person }) => ['person', person.filter(({ boss }) => boss === id)],
  'person.clubs': ({ id }, { club, membership }) => [
    'club',
    club.filter((club) => membership.some((row) => row.person === id && row.club === club.id)),
  ],
  'club.members': ({ id }, { person, membership }) => [
    'person',
    person.filter((person) => membership.some((row) => row.club === id && row.person === person.id)),
  ],
  'pet.tags': ({ id }, { tag, tagged }) => [
    'tag',
    tag.filter((tag) => tagged.some(([pet, to]) => pet === id && to === tag.id)),
  ],
  'tag.pets': ({ id }, { pet, tagged }) => [
    'pet',
    pet.filter((pet) => tagged.some(([from, tag]) => from === pet.id && tag === id)),
  ],
}

/** Whether a row fulfils a condition, over everything that is stored. */
export function fulfils(condition: true | Condition, model: ModelName, row: Row, world: World = stored): boolean {
  if (condition === true) return true
  return Object.entries(condition).every(([name, value]) => {
    if (name === 'and') return (value as readonly Condition[]).every((part) => fulfils(part, model, row, world))
    if (name === 'or') return (value as readonly Condition[]).some((part) => fulfils(part, model, row, world))
    if (name === 'not') return !fulfils(value as Condition, model, row, world)
    const many = toManys[`${model}.${name}`]
    if (many) {
      const [target, rows] = many(row, world)
      return rows.some((other) => fulfils(value as Condition, target, other, world))
    }
    const target = toOnes[`${model}.${name}`]
    if (target && typeof value === 'object' && value !== null && !('!=' in value) && !('>' in value)) {
      const found = world[target].find(({ id }) => id === row[name])
      return found !== undefined && fulfils(value as Condition, target, found, world)
    }
    return compares(row[name] ?? null, value)
  })
}

function compares(stored: Json, value: Json): boolean {
  if (typeof value !== 'object' || value === null) return stored === value
  const [[operator, operand]] = Object.entries(value) as [[string, Json]]
  if (operator === '!=') return operand === null ? stored !== null : stored !== null && stored !== operand
  return stored !== null && (stored as number) > (operand as number)
}

/** The rows and values that a requester may see. Attributes that it may never read are left out by the models. */
export function visible({ read, attributes }: Rules): Visible {
  const rowsOf = (model: ModelName): readonly Row[] =>
    stored[model]
      .filter((row) => fulfils(read[model], model, row))
      .map((row) => {
        const shown = Object.entries(row).map(([name, value]) => {
          const rule = attributes[`${model}.${name}`]
          return [name, rule === undefined || (rule !== false && fulfils(rule, model, row)) ? value : null]
        })
        return Object.fromEntries(shown)
      })
  const rows = Object.fromEntries(modelNames.map((model) => [model, rowsOf(model)])) as Record<
    ModelName,
    readonly Row[]
  >
  const has = (model: ModelName, id: number) => rows[model].some((row) => row.id === id)
  return { ...rows, tagged: stored.tagged.filter(([pet, tag]) => has('pet', pet) && has('tag', tag)) }
}
