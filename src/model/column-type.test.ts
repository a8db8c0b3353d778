import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainColumnType } from './column-type.ts'
import { ConfigError } from './config-error.ts'
import { defineModels } from './define.ts'

const cases: readonly (readonly [columnType: string, type: string | undefined])[] = [
  ['text', 'text'],
  ['varchar(80)', 'varchar(80)'],
  ['DECIMAL(10, 2)', 'DECIMAL(10, 2)'],
  ['double  precision', 'double precision'],
  ['character varying(80)', 'character varying(80)'],
  ['timestamp(3) with time zone', 'timestamp(3) with time zone'],
  ['integer[]', 'integer[]'],
  ['VARCHAR(255) CHARACTER SET utf8mb4', 'VARCHAR(255)'],
  ["int unsigned NOT NULL DEFAULT '0'", 'int'],
  ['longtext COLLATE utf8mb4_bin', 'longtext'],
  ["enum('a','b')", undefined],
  ['text; drop table pet', undefined],
  ['text, other text', undefined],
  ['text -- comment', undefined],
  ['text) as select (1', undefined],
  ['"text"', undefined],
  ['', undefined],
]
for (const [columnType, type] of cases) {
  test(`${JSON.stringify(columnType)} is read as ${type}`, () => assert.equal(plainColumnType(columnType), type))
}

test('an attribute has the plain type, and another one is refused with its model and attribute', () => {
  const pet = (columnType: string) => ({ pet: { attributes: { name: { type: 'string', columnType } } } }) as const
  const read = defineModels(pet('VARCHAR(255) CHARACTER SET utf8mb4')).get('pet')?.attributes.get('name')
  assert.equal(read?.columnType, 'VARCHAR(255)')
  assert.throws(
    () => defineModels({ ...pet("enum('a')"), toy: { attributes: { of: { model: 'pet', columnType: 'int;' } } } }),
    (error) =>
      error instanceof ConfigError &&
      error.problems.join('\n') ===
        'pet.name: `columnType` "enum(\'a\')" is not a plain SQL type, such as varchar(80)\n' +
          'toy.of: `columnType` "int;" is not a plain SQL type, such as varchar(80)',
  )
})
