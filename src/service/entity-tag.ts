import { fingerprint, versionOf } from '../operation/version.ts'
import type { Records } from '../storage/store.ts'

/**
 * `"version-body"`: what the record is, and what this answer makes of it. A write that was told one asks for the
 * version; a read that was told one asks for the whole. Lists, and records of which only a part was read, have no version.
 */
export function entityTag(body: string, stored: Records | undefined, embedded: boolean): string {
  const whole = fingerprint(body)
  if (!stored) return `"-${whole}"`
  return `"${embedded ? versionOf(stored) : whole}-${whole}"`
}

/** The tags of an `If-Match` or `If-None-Match`; '*' is any. */
export function readTags(header: string | readonly string[] | undefined): readonly string[] | '*' | undefined {
  if (header === undefined) return undefined
  const text = Array.isArray(header) ? header.join() : (header as string)
  if (text.trim() === '*') return '*'
  return text.split(',').map((tag) => tag.trim())
}

/** The versions among them. A weak tag names none: it does not promise that the record is the same. */
export function readVersions(header: string | readonly string[] | undefined): readonly string[] | '*' | undefined {
  const tags = readTags(header)
  if (tags === undefined || tags === '*') return tags
  return tags.map((tag) => /^"([\w-]{22})-[\w-]{22}"$/.exec(tag)?.[1] ?? '')
}

/** A read that brings this tag along has what we would send. Weak or not makes no difference here. */
export function isKnown(tag: string, header: string | readonly string[] | undefined): boolean {
  const tags = readTags(header)
  return tags === '*' || (tags?.some((known) => known.replace(/^W\//, '') === tag) ?? false)
}
