import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../test/support/any-character.ts'
import { decodeFormText } from './decode-form-text.ts'

/** Long enough to be decoded in the other way. */
const long = 'x'.repeat(20_000)
const expected = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
const decoded = (text: string): string | undefined => {
  try {
    return decodeFormText(text)
  } catch {
    return undefined
  }
}

test('a text of any length is decoded as decodeURIComponent does, with spaces for plus signs', () => {
  const encoded = anyCharacter.map((character) =>
    character.isWellFormed() ? encodeURIComponent(character) : character,
  )
  const byte = fc.integer({ min: 0, max: 255 }).map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
  const part = fc.oneof(
    encoded,
    anyCharacter,
    byte,
    fc.constantFrom('%', '+', '\ufeff', '%C3%a9', '%4', '%zz', '%-1', '%F0%9F', '\ud800'),
  )
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const text = parts.join('')
      assert.equal(decoded(text), expected(text))
      assert.equal(decoded(`${text}${long}`), expected(`${text}${long}`))
      assert.equal(decoded(`${long}${text}`), expected(`${long}${text}`))
    }),
  )
})
