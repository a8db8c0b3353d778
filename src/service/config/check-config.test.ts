import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigError } from '../../model/config-error.ts'
import { definitionsOf } from './check-config.ts'
import type { AnyConfig } from './config.ts'

const models = { pet: { attributes: { name: { type: 'string' } } } }
const problemsOf = (config: object): readonly string[] => {
  try {
    definitionsOf(config as AnyConfig)
    return []
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.problems
  }
}

describe('a setting is refused', () => {
  const originList = 'must be a list of origins such as "https://app.example", without a path and in lower case'
  const brokerProblem = 'broker must be a URL such as "redis://host:6379", "rediss://host:6379" or "nats://host:4222"'
  const brokerOnSqlite = 'broker needs a PostgreSQL database; processes on one SQLite file notice writes without it'
  const emptyAccess =
    "access contains no rule. Write what it allows, such as { read: true }, or { read: false } to forbid everything, or 'public' to allow everything"
  const unsetDatabase = (what: string, operator: string) =>
    `database is ${what}, as an environment variable is that is not set. Set it, or write the database to use without it: process.env.X ${operator} 'sqlite:data/app.db'`
  const cases: readonly [config: object, ...problems: string[]][] = [
    [{ prot: 1337 }, 'there is no setting "prot"; did you mean "port"?'],
    [{ zzz: 1 }, 'there is no setting "zzz"'],
    [{ stopTimeoutMs: 3000 }, 'there is no setting "stopTimeoutMs"; did you mean "limits.stopTimeoutMs"?'],
    [{ port: '1337' }, 'port must be a port number from 0 to 65535, and no text: Number(…) makes it a number'],
    [{ port: 'web' }, 'port must be a port number from 0 to 65535'],
    [{ port: 65_536 }, 'port must be a port number from 0 to 65535'],
    [{ migrate: 'alter' }, 'migrate must be "add" or "safe" or "drop"'],
    [{ jsonp: 'crosssite' }, 'jsonp must be true or "cross-site" or false'],
    [
      { auth: { jwt: { jwksUri: 'issuer.example/keys' } } },
      'auth.jwt.jwksUri must be an address that begins with https:// or http://',
    ],
    [{ auth: { jwt: {} } }, 'auth.jwt needs one of secret, jwksUri and jwks'],
    [
      { auth: { jwt: { issuer: undefined, secret: undefined, cookie: 'token' } } },
      'auth.jwt needs one of secret, jwksUri and jwks; secret is undefined, as an environment variable is that is not set',
    ],
    ...[{}, { keys: [] }, { keys: 'x' }, { keys: [{}] }].map((jwks): [object, string] => [
      { auth: { jwt: { jwks } } },
      "auth.jwt.jwks must be a set of keys, such as { keys: [{ kty: 'RSA', n: …, e: … }] }",
    ]),
    [
      { auth: { jwt: { secret: 's'.repeat(32), algorithms: [] } } },
      'auth.jwt.algorithms is empty: no token would be accepted',
    ],
    ...['RS256', 'none', 'HS255'].map((name): [object, string] => [
      { auth: { jwt: { secret: 's'.repeat(32), algorithms: ['HS256', name] } } },
      'auth.jwt.algorithms with a secret are HS256, HS384, HS512',
    ]),
    ...['HS256', 'none', 'RS255'].map((name): [object, string] => [
      { auth: { jwt: { jwksUri: 'https://issuer.example/keys', algorithms: [name] } } },
      'auth.jwt.algorithms with public keys are RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519, ML-DSA-44, ML-DSA-65, ML-DSA-87',
    ]),
    [{ cors: true }, 'cors must be an object of settings: origins, credentials, maxAge'],
    [{ cors: [] }, 'cors must be an object of settings: origins, credentials, maxAge'],
    [{ cors: {} }, 'cors.origins is missing'],
    [{ cors: { origin: [] } }, 'there is no setting "cors.origin"; did you mean "origins"?', 'cors.origins is missing'],
    [{ cors: { origins: 'https://app.example' } }, `cors.origins ${originList}, or "*"`],
    [{ cors: { origins: ['https://app.example/'] } }, `cors.origins ${originList}, or "*"`],
    [{ cors: { origins: ['https://app.example/path'] } }, `cors.origins ${originList}, or "*"`],
    [{ cors: { origins: ['https://app.example:443'] } }, `cors.origins ${originList}, or "*"`],
    [{ cors: { origins: ['https://*.example'] } }, `cors.origins ${originList}, or "*"`],
    [{ cors: { origins: ['https://App.example'] } }, `cors.origins ${originList}, or "*"`],
    [{ cors: { origins: ['app.example'] } }, `cors.origins ${originList}, or "*"`],
    [{ cors: { origins: ['null'] } }, `cors.origins ${originList}, or "*"`],
    [{ cors: { origins: ['*'] } }, `cors.origins ${originList}, or "*"`],
    [{ cors: { origins: [], credentials: 'yes' } }, 'cors.credentials must be true or false'],
    [{ cors: { origins: [], maxAge: -1 } }, 'cors.maxAge must be a whole number, 0 or more'],
    [{ cors: { origins: '*', credentials: true } }, 'cors.credentials needs a list in cors.origins instead of "*"'],
    [
      { allowedHosts: ['https://api.example'] },
      'allowedHosts must be a list of host names such as "api.example", without a protocol and in lower case, or "*"',
    ],
    [{ cache: 1 }, 'cache must be an object of settings: maxStaleMs, or false, or true'],
    [{ cache: {} }, 'cache.maxStaleMs is missing'],
    [{ writers: 'me' }, 'writers must be "self" or "any"'],
    [{ cache: { maxStaleMs: 0 } }, 'cache.maxStaleMs must be a whole number of milliseconds, 1 or more'],
    [{ sockets: true }, 'sockets must be an object of settings: path, onlyAllowOrigins, mirror, or false'],
    [{ sockets: { cors: true } }, 'there is no setting "sockets.cors"; there are path, onlyAllowOrigins, mirror'],
    [{ sockets: { mirrors: true } }, 'there is no setting "sockets.mirrors"; did you mean "mirror"?'],
    [{ sockets: { onlyAllowOrigins: ['http://a.example/'] } }, `sockets.onlyAllowOrigins ${originList}`],
    [{ limits: { maxLimt: 3 } }, 'there is no setting "limits.maxLimt"; did you mean "maxLimit"?'],
    [{ limits: { maxLimit: '3' } }, 'limits.maxLimit must be a whole number, 0 or more'],
    ...['maxJobBacklog', 'maxJobBacklogBytes', 'maxCatchUps', 'maxLiveRuns', 'maxRequestsPerSocket'].map(
      (name): [object, string] => [{ limits: { [name]: 0 } }, `limits.${name} must be a whole number, 1 or more`],
    ),
    [{ limits: { maxLimit: 3 } }, 'limits.defaultLimit is larger than limits.maxLimit'],
    [{ logger: { info() {} } }, 'logger must be an object with the functions info, warn and error, such as pino()'],
    ...['http://localhost:6379', 'redis', 'redis:6379', 'mqtt://h', 'nats://', 6379].map((broker): [object, string] => [
      { broker, database: 'postgres://localhost/shop' },
      brokerProblem,
    ]),
    [{ broker: 'nats://user:password@localhost' }, brokerOnSqlite],
    [{ database: undefined, broker: 'nats://localhost' }, unsetDatabase('undefined', '??')],
    [{ database: '' }, unsetDatabase('an empty text', '||')],
    [{ database: null }, 'database must be a URL such as "sqlite:data/app.db" or "postgres://user@host/name"'],
    [{ clock: {} }, 'clock must be an object with a function now'],
    [{ rest: false, shortcuts: false }, 'rest and shortcuts are both off: no route is served'],
    [{ models: undefined }, 'models is missing'],
    [{ models: 'pet' }, 'models must be an object of models by their names, such as { pet: { attributes: { … } } }'],
    [{ access: { raed: true } }, 'there is no setting "access.raed"; did you mean "read"?'],
    [{ access: { read: ['admin'] } }, 'access.read must be true, false, a role or a function'],
    [{ access: {} }, emptyAccess],
    [{ access: { read: undefined } }, emptyAccess],
    [{ access: { shadow: undefined } }, emptyAccess],
    [{ rest: 1, populate: 'no' }, 'rest must be true or false', 'populate must be true or false'],
  ]
  for (const [config, ...problems] of cases) {
    test(JSON.stringify(config), () => assert.deepEqual(problemsOf({ models, ...config }), problems))
  }
})

test('an asynchronous rule is refused', () => {
  const access = async () => false
  assert.deepEqual(problemsOf({ models, access: { read: access } }), ['access.read must be synchronous'])
  const actions = { close: { on: 'service', access, run: () => null } }
  assert.deepEqual(problemsOf({ models, actions }), ['actions.close: `access` must be synchronous'])
})

describe('a setting is accepted', () => {
  const cases: readonly object[] = [
    { access: { read: false } },
    { access: { shadow: 0 } },
    { cors: { origins: '*' } },
    { cors: { origins: ['https://app.example', 'http://localhost:3000', 'capacitor://localhost'], credentials: true } },
    { allowedHosts: ['api.example', 'api.example:8443', 'intranet'] },
    { allowedHosts: '*' },
    { sockets: false, cors: undefined },
    { jsonp: 'cross-site' },
    { broker: 'rediss://user:password@host:6379', database: 'postgresql://localhost/shop' },
    { broker: 'nats://host', database: 'postgres://localhost/shop' },
  ]
  for (const config of cases) {
    test(JSON.stringify(config), () => assert.deepEqual(problemsOf({ models, ...config }), []))
  }
})
