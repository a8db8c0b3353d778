/*
 * The types of conditions and orders.
 */
import type { Clinic } from './clinic.types.ts'
import type { Odd } from './record-of.types.ts'
import type { Sort } from './sort-of.ts'
import type { Where } from './where-of.ts'

type PetWhere = Where<Clinic, 'pet'>

export const conditions: readonly PetWhere[] = [
  {},
  { name: 'Rex' },
  { name: null },
  { name: ['Rex', 'Tom'] },
  { name: { contains: 'e', startsWith: 'R', endsWith: 'x', like: 'R%', ilike: 'r%' } },
  { weight: { '<': 3, '<=': 3, '>': 1, '>=': 1, '!=': 2 } },
  { weight: { lessThan: 3, lessThanOrEqual: 3, greaterThan: 1, greaterThanOrEqual: 1, not: [2, 3], '!': null } },
  { kind: { in: ['cat'], nin: ['dog'], contains: 'at' } },
  { isWild: true, seenAt: { '>': '2026-01-01' }, steps: { '<': '9' }, createdAt: { '<': '2026' } },
  { notes: null },
  { notes: { '!=': null } },
  { notes: '{"a":1}' },
  { notes: 5, or: [{ notes: true }] },
  { owner: 1, doctor: 'house' },
  { owner: null, doctor: { startsWith: 'h' } },
  { owner: [1, 2], id: { in: [1] } },
  { or: [{ name: 'Rex' }, { and: [{ weight: 1 }, { not: { kind: 'cat' } }] }] },
  { owner: { name: 'Ann', not: { email: null } }, doctor: { code: 'house' } },
  { tags: { label: { startsWith: 'a' } } },
  { owner: { pets: { tags: { or: [{ label: 'a' }, { pets: { kind: 'dog' } }] } } } },
  { tags: {} },
]

export const wrongConditions: readonly PetWhere[] = [
  // @ts-expect-error no such attribute
  { nme: 'Rex' },
  // @ts-expect-error no such attribute, one level down
  { or: [{ nme: 'Rex' }] },
  // @ts-expect-error no such operator
  { name: { contain: 'R' } },
  // @ts-expect-error a number is not a string
  { name: 1 },
  // @ts-expect-error null is not allowed in a list
  { name: ['Rex', null] },
  // @ts-expect-error null has no order
  { weight: { '<': null } },
  // @ts-expect-error not one of the values
  { kind: 'cow' },
  // @ts-expect-error text operators are for text
  { weight: { contains: '1' } },
  // @ts-expect-error a time is not text
  { seenAt: { startsWith: '2026' } },
  // @ts-expect-error booleans have no order
  { isWild: { '<': true } },
  // @ts-expect-error JSON that is an object is given as a text
  { notes: { a: 1 } },
  // @ts-expect-error JSON is only compared by equality and with null
  { notes: { '!=': 1 } },
  // @ts-expect-error by key
  { owner: 'Ann' },
  // @ts-expect-error the key of a doctor is a string
  { doctor: 1 },
  // @ts-expect-error a to-many association has no value
  { tags: 'x' },
  // @ts-expect-error nor null
  { tags: null },
  // @ts-expect-error a list
  { or: { name: 'Rex' } },
  // @ts-expect-error no such attribute of an owner
  { owner: { name: 'Ann', nme: 'Ann' } },
  // @ts-expect-error a number is not a string
  { owner: { name: 1 } },
  // @ts-expect-error no such attribute of a tag
  { tags: { label: 'a', lable: 'a' } },
  // @ts-expect-error no such attribute, two associations away
  { owner: { pets: { kind: 'dog', knd: 'dog' } } },
]

export const bigIsNoText: Where<Odd, 'odd'> = {
  // @ts-expect-error an ordered value without text operators
  long: { '>': '0', startsWith: '0' },
}

export const uuidIsNoText: Where<Clinic, 'tag'> = {
  // @ts-expect-error an ordered value without text operators
  id: { '>': '0', startsWith: '0' },
}

// ---- orders ---------------------------------------------------------------------------------------------------------

export const orders: readonly Sort<Clinic, 'pet'>[] = [
  'name',
  'name ASC',
  'createdAt DESC',
  ['name', 'owner DESC', { weight: 'ASC' }],
  { name: 1, weight: -1, isWild: 'DESC', seenAt: 'ASC' },
  'owner.name',
  'doctor.code DESC',
  ['owner.createdAt DESC', { 'owner.name': 'ASC' }],
  { 'doctor.code': -1 },
]

export const wrongOrders: readonly Sort<Clinic, 'pet'>[] = [
  // @ts-expect-error no such attribute
  'nme',
  // @ts-expect-error no such direction
  'name UP',
  // @ts-expect-error no such attribute
  ['name', { nme: 'ASC' }],
  // @ts-expect-error a list takes words
  [{ name: 1 }],
  // @ts-expect-error no such direction
  { name: 2 },
  // @ts-expect-error JSON has no order
  'notes',
  // @ts-expect-error a to-many association has no order
  'tags',
  // @ts-expect-error nor have their attributes
  'tags.label',
  // @ts-expect-error no such attribute of an owner
  'owner.nme',
  // @ts-expect-error only one association deep
  'owner.pets.name',
]
