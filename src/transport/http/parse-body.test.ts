import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type ErrorCode, ServiceError } from '../../protocol/errors.ts'
import type { Json } from '../../protocol/json.ts'
import { defaultLimits } from '../../support/limits.ts'
import { parseBody } from './parse-body.ts'

const parse = (body: string | Uint8Array, headers: Record<string, string>): Json | undefined =>
  parseBody(typeof body === 'string' ? Buffer.from(body) : body, headers, defaultLimits)

const rex = '{"name":"Rex"}'
const formType = 'application/x-www-form-urlencoded'

const valid: readonly [type: string | undefined, body: string, value: Json | undefined][] = [
  ['application/json', rex, { name: 'Rex' }],
  ['APPLICATION/JSON; Charset="UTF-8"', rex, { name: 'Rex' }],
  ['application/json; charset=utf8', rex, { name: 'Rex' }],
  ['application/vnd.api+json', rex, { name: 'Rex' }],
  ['application/merge-patch+json', rex, { name: 'Rex' }],
  ['text/json', rex, { name: 'Rex' }],
  [undefined, rex, { name: 'Rex' }],
  [undefined, '[1,2]', [1, 2]],
  ['application/json', '\ufeff[]', []],
  ['application/json', '{"name":"Réx 🐕"}', { name: 'Réx 🐕' }],
  ['application/json', '', undefined],
  ['text/plain', '', undefined],
  ['nonsense', '', undefined],
  [
    formType,
    'name=Rex&tags[]=a&tags[]=b&owner[name]=Ann+B',
    { name: 'Rex', tags: ['a', 'b'], owner: { name: 'Ann B' } },
  ],
  [`${formType}; charset=UTF-8`, 'name=R%C3%A9x', { name: 'Réx' }],
  [formType, 'name=Réx', { name: 'Réx' }],
]

const refused: readonly [type: string | undefined, body: string | Uint8Array, code: ErrorCode, message: RegExp][] = [
  [
    'text/plain',
    'name=Rex',
    'E_UNSUPPORTED_MEDIA_TYPE',
    /application\/json, application\/x-www-form-urlencoded, multipart\/form-data, application\/xml/,
  ],
  ['application/jsonp', 'f([])', 'E_UNSUPPORTED_MEDIA_TYPE', /supported are/],
  ['text/plain;charset=UTF-8', rex, 'E_UNSUPPORTED_MEDIA_TYPE', /looks like JSON .* text\/plain: .*application\/json/],
  [formType, rex, 'E_BAD_BODY', /looks like JSON .* application\/json/],
  [formType, ' [1,2]', 'E_BAD_BODY', /looks like JSON/],
  ['application/json; charset=latin1', rex, 'E_UNSUPPORTED_MEDIA_TYPE', /utf-8/],
  ['application/json; charset=utf-16', rex, 'E_UNSUPPORTED_MEDIA_TYPE', /utf-8/],
  [`${formType}; charset=iso-8859-1`, 'a=1', 'E_UNSUPPORTED_MEDIA_TYPE', /utf-8/],
  ['application/json, text/plain', rex, 'E_UNSUPPORTED_MEDIA_TYPE', /Content-Type/],
  ['application/json x', rex, 'E_UNSUPPORTED_MEDIA_TYPE', /Content-Type/],
  ['', rex, 'E_UNSUPPORTED_MEDIA_TYPE', /Content-Type/],
  ['application/json', '{', 'E_BAD_BODY', /position 1/],
  [undefined, 'name=Rex', 'E_BAD_BODY', /no Content-Type/],
  [undefined, '{"name":', 'E_BAD_BODY', /position 8/],
  ['application/json', Buffer.from([0x5b, 0x22, 0xff, 0x22, 0x5d]), 'E_BAD_BODY', /UTF-8/],
  ['application/json', Buffer.from([0x5b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x5d]), 'E_BAD_BODY', /UTF-8/],
  ['application/json', Buffer.from('[1]', 'utf16le'), 'E_BAD_BODY', /JSON/],
  [formType, Buffer.from([0x61, 0x3d, 0xe9]), 'E_BAD_BODY', /UTF-8/],
  [formType, 'a=%FF', 'E_BAD_REQUEST', /UTF-8/],
  [formType, '__proto__[a]=1', 'E_BAD_REQUEST', /__proto__/],
  [formType, 'x&'.repeat(2000), 'E_BAD_REQUEST', /1000/],
]

const failsWith = (code: ErrorCode, message: RegExp) => (error: unknown) =>
  error instanceof ServiceError && error.code === code && message.test(error.message) && error.message.length < 200

describe('a body', () => {
  for (const [type, body, value] of valid) {
    test(`${type ?? 'without a type'}: ${body || 'empty'}`, () =>
      assert.deepEqual(parse(body, type === undefined ? {} : { 'content-type': type }), value))
  }
  for (const [type, body, code, message] of refused) {
    test(`${type ?? 'without a type'} is refused: ${body.slice(0, 20)}`, () =>
      assert.throws(() => parse(body, type === undefined ? {} : { 'content-type': type }), failsWith(code, message)))
  }

  test('may have Content-Encoding identity, and no other', () => {
    assert.deepEqual(parse(rex, { 'content-encoding': 'identity' }), { name: 'Rex' })
    for (const coding of ['gzip', 'br', 'deflate', 'gzip, identity', 'IDENTITY,gzip', '']) {
      assert.throws(() => parse(rex, { 'content-encoding': coding }), failsWith('E_UNSUPPORTED_MEDIA_TYPE', /Encoding/))
    }
  })
})
