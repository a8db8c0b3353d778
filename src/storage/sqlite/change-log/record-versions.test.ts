import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RecordTexts, type TextsOfSelection } from '../../record-texts.ts'
import { Connection } from '../client/connection.ts'
import { RecordVersions } from './record-versions.ts'

function opened(schema: string, texts?: RecordTexts): RecordVersions {
  using reading = new Connection(':memory:', { readOnly: false })
  reading.exec(schema)
  const versions = new RecordVersions(texts)
  versions.readSchema(reading)
  return versions
}
const pet = { table: 'pet', column: 'id', id: 1 }

const pets: readonly (readonly [table: string, isKnown: boolean])[] = [
  ['create table pet (id integer primary key, name text)', true],
  ['create table pet (id integer primary key autoincrement)', true],
  ['create table pet (id integer primary key, name text); create index named on pet (name)', true],
  ['create table pet (id integer primary key, name text unique)', false],
  ['create table pet (id integer primary key, name text); create unique index named on pet (name)', false],
  ['create table pet (id integer primary key, name text); create unique index some on pet (name) where id > 3', false],
  ['create table pet (id integer, name text, primary key (id, name))', false],
  ['create table pet (id integer primary key desc)', false],
  ['create table pet (id int primary key)', false],
  ['create table pet (id integer primary key) without rowid', false],
  ['create table pet (id text primary key)', false],
  ['create table pet (number integer primary key, id integer)', false],
]
for (const [table, isKnown] of pets)
  test(`what single records are changed is ${isKnown ? 'known' : 'not known'}: ${table}`, () => {
    assert.equal(opened(table).of(pet) !== undefined, isKnown)
  })

/** A change, and whether the first pet may be another one after it. */
const changes: readonly (readonly [string, (versions: RecordVersions) => void, boolean])[] = [
  ['an update', (versions) => versions.count('pet', '[1]', 'updated', 1), true],
  ['an update of another', (versions) => versions.count('pet', '[11]', 'updated', 11), false],
  ['of another table', (versions) => versions.count('owner', '[1]', 'updated', 1), false],
  ['a key that becomes another', (versions) => versions.count('pet', '[2]', 'updated', 1), true],
  ['an image without the key', (versions) => versions.count('pet', '[2]', 'updated', null), true],
  ['a key that cannot be read', (versions) => versions.count('pet', 'x', 'created', null), true],
  ['a key beyond safe integers', (versions) => versions.count('pet', '[9007199254740993]', 'created', null), false],
  [
    'more changes than are kept',
    (versions) => {
      versions.count('pet', '[1]', 'updated', 1)
      for (let id = 2; id <= 20_001; id++) versions.count('pet', `[${id}]`, 'created', null)
    },
    true,
  ],
]
for (const [name, change, isChanged] of changes)
  test(`a version and ${name}`, () => {
    const versions = opened('create table pet (id integer primary key)')
    const before = versions.of(pet)
    change(versions)
    assert.equal(versions.of(pet) !== before, isChanged)
  })

/** A row of the log, with what it refers to before and after, and the owners whose lists of pets are as they were. */
const referring: readonly (readonly [name: string, count: Parameters<RecordVersions['count']>, kept: number[]])[] = [
  ['an update', ['pet', '[1]', 'updated', 1, '[1,1]'], [2, 3]],
  ['an update that moves it', ['pet', '[1]', 'updated', 1, '[1,2]'], [3]],
  ['a record that refers to nothing', ['pet', '[1]', 'updated', 1, '[null,null]'], [1, 2, 3]],
  ['a record that comes', ['pet', '[10]', 'created', null, '[null,2]'], [1, 3]],
  ['a record that may replace another', ['pet', '[9]', 'created', null, '[null,2]'], []],
  ['a record that goes', ['pet', '[1]', 'destroyed', null, '[3,null]'], [1, 2]],
  ['a key that may be that of another', ['pet', '[9]', 'updated', 10, '[1,1]'], []],
  ['a key that none had', ['pet', '[11]', 'updated', 10, '[1,1]'], [2, 3]],
  ['a reference that is a text', ['pet', '[1]', 'updated', 1, '["1",1]'], []],
]
for (const [name, counted, kept] of referring)
  test(`lists and ${name}`, () => {
    const texts = new RecordTexts(20_000)
    const versions = opened('create table pet (id integer primary key, owner integer)', texts)
    const selection = {}
    const lists = texts.of(selection, 'pet', 'owner') as TextsOfSelection
    for (const owner of [1, 2, 3]) texts.set(lists, owner, '[]')
    lists.greatest = 9
    assert.match(versions.columns, /json_extract\(before, '\$\."owner"'\)/)
    versions.count(...counted)
    const now = texts.of(selection, 'pet', 'owner') as TextsOfSelection
    const found = [1, 2, 3].filter((owner) => texts.get(now, owner) !== undefined)
    assert.deepEqual(found, kept)
  })
