import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AttributeDefinition } from './definition.ts'
import { attributeTypeOf } from './types.ts'

describe('attributeTypeOf', () => {
  const meanings: readonly (readonly [AttributeDefinition, string])[] = [
    [{ type: 'string' }, 'text'],
    [{ type: 'string', columnType: 'varchar(20)' }, 'text'],
    [{ type: 'string', isUUID: true }, 'uuid'],
    [{ type: 'string', columnType: 'uuid' }, 'uuid'],
    [{ type: 'string', columnType: 'BIGINT' }, 'bigint'],
    [{ type: 'number' }, 'number'],
    [{ type: 'number', isInteger: true }, 'integer'],
    [{ type: 'number', autoIncrement: true }, 'integer'],
    [{ type: 'number', columnType: 'Int8' }, 'bigint'],
    [{ type: 'number', autoCreatedAt: true }, 'integer'],
    [{ type: 'number', autoUpdatedAt: true, columnType: 'bigint' }, 'integer'],
    [{ type: 'bigint' }, 'bigint'],
    [{ type: 'bigint', isInteger: true }, 'bigint'],
    [{ type: 'boolean' }, 'boolean'],
    [{ type: 'json' }, 'json'],
    [{ type: 'datetime' }, 'datetime'],
    [{ type: 'ref' }, 'json'],
    [{ type: 'ref', columnType: 'jsonb' }, 'json'],
    [{ type: 'ref', columnType: 'bigint(20)' }, 'bigint'],
    [{ type: 'ref', columnType: 'datetime' }, 'datetime'],
    [{ type: 'ref', columnType: 'timestamp(3) with time zone' }, 'datetime'],
    [{ type: 'ref', columnType: 'TIMESTAMPTZ' }, 'datetime'],
    [{ type: 'ref', columnType: 'date' }, 'datetime'],
    [{ type: 'ref', columnType: 'blob' }, 'binary'],
    [{ type: 'ref', columnType: ' bytea' }, 'binary'],
    [{ type: 'ref', columnType: 'varbinary(16)' }, 'binary'],
    [{ autoCreatedAt: true }, 'datetime'],
    [{ autoUpdatedAt: true }, 'datetime'],
    [{ type: 'string', autoCreatedAt: true }, 'text'],
    [{ autoIncrement: true }, 'integer'],
  ]
  for (const [definition, name] of meanings) {
    test(`${JSON.stringify(definition)} is ${name}`, () => {
      const type = attributeTypeOf(definition)
      assert.equal(typeof type === 'string' ? type : type.name, name)
    })
  }

  const problems: readonly (readonly [object, string])[] = [
    [{}, 'it needs a `type`, a `model` or a `collection`'],
    [{ type: 'integer' }, 'there is no type "integer"'],
    [{ type: 'strng' }, 'there is no type "strng"; did you mean "string"?'],
    [{ type: 'string', isInteger: true }, '`isInteger` cannot be used with type "string"'],
    [{ type: 'number', isUUID: true }, '`isUUID` cannot be used with type "number"'],
    [{ autoCreatedAt: true, isUUID: true }, '`isUUID` cannot be used with datetime'],
  ]
  for (const [definition, problem] of problems) {
    test(`${JSON.stringify(definition)} is refused`, () => assert.equal(attributeTypeOf(definition), problem))
  }
})
