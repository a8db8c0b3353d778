import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isAny, isKnown } from './entity-tag.ts'

const tag = '"abc-def"'

describe('If-None-Match lists the tag', () => {
  const cases: readonly (readonly [header: string | readonly string[] | undefined, isListed: boolean])[] = [
    [undefined, false],
    ['', false],
    [tag, true],
    [`W/${tag}`, true],
    [` ${tag} `, true],
    [`"other", ${tag}`, true],
    [`"other",\tW/${tag} ,"last"`, true],
    [`x${tag}, ${tag}`, true],
    [['"other"', tag], true],
    ['*', true],
    [' * ', true],
    ['*, "other"', false],
    ['"other"', false],
    [`x${tag}`, false],
    [`${tag}x`, false],
    [`/${tag}`, false],
    [`w/${tag}`, false],
    [`W/ ${tag}`, false],
    [`XW/${tag}`, false],
    [`"other" ${tag}`, false],
    [tag.slice(1), false],
  ]
  for (const [header, isListed] of cases)
    test(`${isListed ? 'in' : 'not in'} ${JSON.stringify(header)}`, () => assert.equal(isKnown(tag, header), isListed))

  test('a list of thousands is not divided into its tags', (t) => {
    const split = t.mock.method(String.prototype, 'split')
    assert.equal(isKnown(tag, '"a",'.repeat(3_500)), false)
    assert.equal(isAny('"a",'.repeat(3_500)), false)
    assert.equal(split.mock.callCount(), 0)
  })
})
