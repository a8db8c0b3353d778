import type { RuleKind } from '../rules.ts'

export const isEmail: RuleKind = {
  name: 'isEmail',
  fits: ['text'],
  make: ({ isEmail }) =>
    isEmail
      ? {
          name: 'isEmail',
          expects: true,
          check: (value) => (looksLikeEmail(value as string) ? undefined : 'must be an e-mail address'),
        }
      : undefined,
}

/** The longest that mail servers take (RFC 5321). It also bounds the work. */
const longest = 254
const longestLocal = 64
const local = /^[^\s@"(),:;<>[\\\]\p{Cc}]+$/u
const label = /^[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?$/u

/**
 * What people have: a mailbox, one @, a domain of at least two parts. Quoted mailboxes and numbers for a domain are
 * legal and always a mistake. Whether anybody reads mail there, only mail can tell.
 */
function looksLikeEmail(text: string): boolean {
  if (text.length > longest) return false
  const at = text.lastIndexOf('@')
  const mailbox = text.slice(0, at)
  if (at < 1 || at > longestLocal || !local.test(mailbox)) return false
  if (mailbox.startsWith('.') || mailbox.endsWith('.') || mailbox.includes('..')) return false
  const labels = text.slice(at + 1).split('.')
  return labels.length > 1 && labels.every((part) => label.test(part)) && !/^\d+$/.test(labels.at(-1) as string)
}
