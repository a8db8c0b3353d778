import type { RuleKind } from '../rules.ts'
import { validator } from '../validator.ts'

export const isEmail: RuleKind = {
  name: 'isEmail',
  fits: ['text'],
  make: ({ isEmail }) =>
    isEmail
      ? {
          name: 'isEmail',
          expects: true,
          check: (value) => (accepts(value as string) ? undefined : 'must be an email address'),
        }
      : undefined,
}

/** The maximum of mail servers (RFC 5321); it also bounds the work. */
const maxLength = 254

/** Quoted local parts are valid in the standard but refused: in practice they are typing errors. */
const accepts = (text: string): boolean =>
  text.length <= maxLength && validator.isEmail(text, { blacklisted_chars: '"' })
