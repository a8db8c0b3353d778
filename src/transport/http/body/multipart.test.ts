import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ServiceError } from '../../../protocol/errors.ts'
import { defaultLimits } from '../../../support/limits.ts'
import { multipart } from './multipart.ts'

const content = { type: 'multipart/form-data', boundary: 'xYz' }
const field = (name: string, value: string) =>
  `--xYz\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const read = (text: string, boundary: string | undefined = 'xYz') =>
  JSON.parse(JSON.stringify(multipart.parse(text, defaultLimits, { ...content, boundary })))

describe('multipart bodies', () => {
  for (const [name, text, expected] of [
    ['fields of text', `${field('name', 'Rex')}${field('age', '3')}--xYz--\r\n`, { name: 'Rex', age: '3' }],
    [
      'brackets',
      `${field('extra[a]', '1')}${field('pets[]', '1')}${field('pets[]', '2')}--xYz--`,
      { extra: { a: '1' }, pets: ['1', '2'] },
    ],
    [
      'lines, signs and an empty value',
      `${field('bio', 'a\r\nb=c&d%20+é')}${field('name', '')}--xYz--`,
      { bio: 'a\r\nb=c&d%20+é', name: '' },
    ],
    [
      'more headers and a preamble',
      `hello\r\n--xYz\r\nContent-Type: text/plain\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--xYz--\r\nbye`,
      { a: '1' },
    ],
    [
      'a quotation mark in a name',
      `--xYz\r\nContent-Disposition: form-data; name="a%22b"\r\n\r\n1\r\n--xYz--`,
      { 'a"b': '1' },
    ],
    [
      'an encoding that changes nothing',
      '--xYz\r\nContent-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: 8BIT\r\n\r\n1\r\n--xYz--',
      { a: '1' },
    ],
    ['no field at all', '--xYz--\r\n', {}],
  ] as const) {
    test(name, () => assert.deepEqual(read(text), expected))
  }

  for (const [name, text, code] of [
    [
      'a file',
      `--xYz\r\nContent-Disposition: form-data; name="photo"; filename="a.png"\r\n\r\nPNG\r\n--xYz--`,
      'E_UNSUPPORTED_MEDIA_TYPE',
    ],
    [
      'an encoded field',
      '--xYz\r\nContent-Disposition: form-data; name="a"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n1=3D1\r\n--xYz--',
      'E_UNSUPPORTED_MEDIA_TYPE',
    ],
    ['no end', field('name', 'Rex'), 'E_BAD_BODY'],
    ['a part without a name', '--xYz\r\nContent-Disposition: form-data\r\n\r\n1\r\n--xYz--', 'E_BAD_BODY'],
    ['a part without headers', '--xYz\r\nhello\r\n--xYz--', 'E_BAD_BODY'],
    ['another boundary', '--other\r\n\r\n--other--', 'E_BAD_BODY'],
    ['a hostile name', `${field('__proto__[x]', '1')}--xYz--`, 'E_BAD_REQUEST'],
  ] as const) {
    test(`${name} is refused`, () =>
      assert.throws(
        () => read(text),
        (error) => error instanceof ServiceError && error.code === code,
      ))
  }

  test('a body without a boundary is refused', () => assert.throws(() => read('--xYz--', ''), /boundary/))
})
