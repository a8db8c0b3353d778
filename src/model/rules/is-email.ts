import type { RuleKind } from '../rules.ts'
import { validator } from '../validator.ts'

export const isEmail: RuleKind = {
  name: 'isEmail',
  fits: ['text'],
  make({ isEmail }) {
    if (!isEmail) return undefined
    const accepts = validator().isEmail
    return {
      name: 'isEmail',
      expects: true,
      check: (value) => (isShort(value as string) && accepts(value as string, options) ? undefined : message),
    }
  },
}

/** The maximum of mail servers (RFC 5321); it also bounds the work. */
const maxLength = 254

const isShort = (text: string): boolean => text.length <= maxLength

/** Quoted local parts are valid in the standard but refused: in practice they are typing errors. */
const options = { blacklisted_chars: '"' }

const message = 'must be an email address'
