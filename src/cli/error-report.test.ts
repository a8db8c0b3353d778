import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DatabaseError } from '../storage/driver.ts'
import { reportOf } from './error-report.ts'

const failed = (message: string, members: object): Error => Object.assign(new Error(message), members)
const lost = (cause: unknown): DatabaseError => new DatabaseError({ kind: 'lost' }, cause)
const refused = failed('connect ECONNREFUSED 127.0.0.1:5999', {
  code: 'ECONNREFUSED',
  address: '127.0.0.1',
  port: 5999,
})

describe('an error of the system or of a server is reported with advice', () => {
  const cases: readonly (readonly [error: Error, message: RegExp, advice: RegExp])[] = [
    [lost(refused), /: no server accepts connections at 127\.0\.0\.1:5999$/, /^--database, DATABASE_URL/],
    [lost(new AggregateError([refused], '')), /at 127\.0\.0\.1:5999$/, /^--database, DATABASE_URL/],
    [
      lost(failed('getaddrinfo ENOTFOUND db', { code: 'ENOTFOUND', hostname: 'db' })),
      /: db is not a known host name$/,
      /^--database, DATABASE_URL/,
    ],
    [lost(failed('database "shop" does not exist', { code: '3D000' })), /"shop" does not exist$/, /^createdb/],
    [new DatabaseError({ kind: 'full' }, new Error('database or disk is full')), /disk is full$/, /^Free space/],
    [failed('10.9.8.7 is not an address of this machine', { code: 'EADDRNOTAVAIL' }), /^10\.9\.8\.7/, /^--host/],
    [failed('web is not a known host name', { code: 'ENOTFOUND' }), /^web/, /^--host 127\.0\.0\.1/],
    [failed('Port 80 on localhost is already in use', { code: 'EADDRINUSE' }), /^Port 80/, /^--port 0/],
    [failed('getaddrinfo ENOTFOUND x', { code: 'ENOTFOUND', syscall: 'getaddrinfo' }), /ENOTFOUND x$/, /^--verbose/],
  ]
  for (const [error, message, advice] of cases) {
    test(`${error.message || error}`, () => {
      const report = reportOf(error)
      assert.match(report.message, message)
      assert.match(report.advice ?? '', advice)
      assert.equal(report.code, 1)
    })
  }
})
