import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { absoluteUrl } from './settings.ts'

describe('the path of a SQLite URL becomes absolute, other URLs stay unchanged', () => {
  for (const [url, meant] of [
    ['sqlite:data/app.db', 'sqlite:/shop/data/app.db'],
    ['sqlite:../app.db', 'sqlite:/app.db'],
    ['sqlite://app.db', 'sqlite:/shop/app.db'],
    ['sqlite:///var/app.db', 'sqlite:/var/app.db'],
    ['sqlite:/var/app.db', 'sqlite:/var/app.db'],
    ['file:app.db', 'file:/shop/app.db'],
    ['file:app.db?mode=ro', 'file:/shop/app.db?mode=ro'],
    ['sqlite::memory:', 'sqlite::memory:'],
    ['memory:', 'memory:'],
    ['postgres://me:secret@host:5432/shop', 'postgres://me:secret@host:5432/shop'],
  ] as const) {
    test(url, () => assert.equal(absoluteUrl(url, '/shop'), meant))
  }
})
