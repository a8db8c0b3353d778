import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CommandError } from '../command.ts'
import { unwritable } from './unwritable.ts'

describe('a file that cannot be written is named with its folder and the reason', () => {
  for (const [code, reason] of [
    ['EACCES', 'this user may not write there'],
    ['EROFS', 'the file system is read-only'],
    ['ENOSPC', 'the disk is full'],
    ['EIO', 'EIO: i/o error'],
  ] as const) {
    test(code, () => {
      const error = unwritable('/srv/shop/tsconfig.json', Object.assign(new Error(`${code}: i/o error`), { code }))
      assert.ok(error instanceof CommandError)
      assert.equal(error.message, `tsconfig.json cannot be written in /srv/shop: ${reason}`)
    })
  }
})
