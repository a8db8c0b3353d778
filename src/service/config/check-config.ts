import { types } from 'node:util'
import { actions } from '../../model/access-rules.ts'
import { type DeclaredActions, declareActions, serviceSubjects } from '../../model/actions/declare-actions.ts'
import { ConfigError } from '../../model/config-error.ts'
import { defineModels } from '../../model/define.ts'
import { isObject } from '../../model/definition-kinds.ts'
import { type Models, writers } from '../../model/model.ts'
import { rulesOfSails } from '../../model/waterline/rules-of-sails.ts'
import { translateWaterline } from '../../model/waterline/translate.ts'
import { migrateModes } from '../../storage/schema.ts'
import { defaultLimits, type Limits, limitTable } from '../../support/limits.ts'
import { type JwtOptions, jwtProblems } from '../auth/jwt.ts'
import * as checks from './checks.ts'
import { be, type Check, listOf, members, oneOf, valueOr } from './checks.ts'
import type { AnyConfig, Config, CorsOptions, SocketOptions } from './config.ts'

const path = be(
  'a path, such as "/api"',
  (value) => typeof value === 'string' && /^\/?[\w\-.~]+(\/[\w\-.~]+)*\/?$/.test(value),
)
const isPort = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535
const port: Check = (value, name) => {
  if (isPort(value)) return []
  // Variables of the environment are texts.
  const isText = typeof value === 'string' && value !== '' && isPort(Number(value))
  return [`${name} must be a port number from 0 to 65535${isText ? ', and no text: Number(…) makes it a number' : ''}`]
}
const origins = listOf('origins such as "https://app.example", without a path and in lower case', isOrigin)
const hosts = listOf('host names such as "api.example", without a protocol and in lower case', isHost)

/** Origins are compared with what browsers send: nothing after the host, and no default port. */
function isOrigin(value: unknown): boolean {
  if (typeof value !== 'string' || !/^[a-z][a-z0-9+.-]*:\/\/[^/?#\s*A-Z]+$/.test(value)) return false
  return !value.startsWith('http') || URL.parse(value)?.origin === value
}

function isHost(value: unknown): boolean {
  return typeof value === 'string' && /^(?:[a-z0-9_-]+\.)*[a-z0-9_-]+(?::\d{1,5})?$/.test(value)
}

const ruleValue = be(
  'true, false, a role or a function',
  (value) => typeof value === 'boolean' || typeof value === 'function' || (typeof value === 'string' && value !== ''),
)
const rule: Check = (value, name) =>
  types.isAsyncFunction(value) ? [`${name} must be synchronous`] : ruleValue(value, name)
const share = be('a number from 0 to 1', (value) => typeof value === 'number' && value >= 0 && value <= 1)
const access = valueOr(
  'public',
  members({ ...Object.fromEntries(actions.map((action) => [action, rule])), shadow: share }),
)
const logger = be('an object with the functions info, warn and error, such as pino()', isLogger)

function isLogger(value: unknown): boolean {
  const functions = (value ?? {}) as Readonly<Record<string, unknown>>
  return ['info', 'warn', 'error'].every((name) => typeof functions[name] === 'function')
}

const broker = be(
  'a URL such as "redis://host:6379", "rediss://host:6379" or "nats://host:4222"',
  (value) => typeof value === 'string' && isBroker(value),
)

function isBroker(value: string): boolean {
  const { protocol = '', hostname = '' } = URL.parse(value) ?? {}
  return ['redis:', 'rediss:', 'nats:'].includes(protocol) && hostname !== ''
}

const strings = listOf('strings', (value) => typeof value === 'string')
const jwtMembers: Readonly<Record<keyof JwtOptions, Check>> = {
  secret: checks.aString,
  jwksUri: checks.aString,
  jwks: checks.anObject,
  algorithms: strings,
  issuer: be('a string or a list of strings', isStrings),
  audience: be('a string or a list of strings', isStrings),
  clockToleranceSeconds: checks.aWholeNumber,
  cookie: checks.aString,
  user: checks.aFunction,
}

function isStrings(value: unknown): boolean {
  return [value].flat().every((item) => typeof item === 'string')
}

const corsMembers: Readonly<Record<keyof CorsOptions, Check>> = {
  origins: valueOr('*', origins),
  credentials: checks.aBoolean,
  maxAge: checks.aWholeNumber,
}

const socketMembers: Readonly<Record<keyof SocketOptions, Check>> = {
  path,
  onlyAllowOrigins: origins,
  mirror: oneOf('interface', true, false),
}

const aDuration = be('a whole number of milliseconds, 1 or more', isPositive)

/** With 0 of these, what waits for its turn would wait for ever. */
const positiveLimits: readonly string[] = [
  'maxJobBacklog',
  'maxJobBacklogBytes',
  'maxCatchUps',
  'maxLiveRuns',
  'maxRequestsPerSocket',
]
const aPositiveNumber = be('a whole number, 1 or more', isPositive)
const limitChecks = Object.fromEntries(
  Object.keys(limitTable).map((name) => [name, positiveLimits.includes(name) ? aPositiveNumber : checks.aWholeNumber]),
)

function isPositive(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 1
}

const configMembers: Readonly<Record<keyof Config, Check>> = {
  models: be('an object of models by their names, such as { pet: { attributes: { … } } }', isObject),
  attributes: checks.anObject,
  actions: checks.anObject,
  compatibility: oneOf('sails'),
  database: be(
    'a URL such as "sqlite:data/app.db" or "postgres://user@host/name"',
    (value) => typeof value === 'string',
  ),
  broker,
  migrate: oneOf(...migrateModes),
  unknownAttributes: oneOf('refuse', 'ignore'),
  limits: members(limitChecks),
  auth: members({ identify: checks.aFunction, jwt: members(jwtMembers) }),
  access,
  port,
  host: checks.aString,
  cors: members(corsMembers, ['origins']),
  allowedHosts: valueOr('*', hosts),
  sockets: valueOr(false, members(socketMembers)),
  shapes: path,
  cache: valueOr(true, valueOr(false, members({ maxStaleMs: aDuration }, ['maxStaleMs']))),
  writers: oneOf(...writers),
  landingPage: checks.aBoolean,
  public: checks.aString,
  seed: checks.aFunction,
  logger,
  onError: checks.aFunction,
  clock: be('an object with a function now', (value) => typeof (value as AnyConfig['clock'])?.now === 'function'),
  uuid: checks.aFunction,
  batch: checks.aBoolean,
  prefix: path,
  restPrefix: path,
  pluralize: checks.aBoolean,
  rest: checks.aBoolean,
  shortcuts: checks.aBoolean,
  shortcutWrites: checks.aBoolean,
  on: checks.anObject,
  jobs: checks.anObject,
  runJobs: checks.aBoolean,
  populate: checks.aBoolean,
  jsonp: oneOf(true, 'cross-site', false),
}
const checkMembers = members(configMembers, ['models'])

/** What the configuration defines. */
export interface Definitions {
  readonly models: Models
  /** Of the service. */
  readonly actions: DeclaredActions
  /** What the models of a Sails application contain and the service does not use. */
  readonly notes: readonly string[]
}

/**
 * The models of a configuration. Throws one ConfigError with all problems of the configuration and the models. `jobProblems` are
 * those of its jobs, whose checks are loaded only where there are jobs.
 */
export function definitionsOf(config: AnyConfig, jobProblems: readonly string[] = []): Definitions {
  assertIsObject(config)
  const problems = [...checkMembers(config, ''), ...databaseProblems(config)]
  if (problems.length === 0) problems.push(...contradictions(config))
  problems.push(...jobProblems)
  try {
    const { models, attributes, notes, readRules } = translated(config)
    const defined = isObject(models) ? defineModels(models, attributes, readRules) : undefined
    const actions = readActions(config, problems)
    if (defined && problems.length === 0) return { models: defined, actions, notes }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    problems.push(...error.problems)
  }
  throw new ConfigError(problems)
}

/** What `process.env.X` is where X is not set: the default would be another database than the one that is meant. */
function databaseProblems(config: AnyConfig): readonly string[] {
  if (!Object.hasOwn(config, 'database') || (config.database !== undefined && config.database !== '')) return []
  const [what, operator] = config.database === '' ? ['an empty text', '||'] : ['undefined', '??']
  return [
    `database is ${what}, as an environment variable is that is not set. Set it, or write the database to use without it: process.env.X ${operator} 'sqlite:data/app.db'`,
  ]
}

/** A model that is served at the address of an action is reported with the routes. */
const readActions = ({ actions = {} }: AnyConfig, problems: string[]): DeclaredActions =>
  declareActions(
    actions,
    'actions',
    serviceSubjects,
    () => undefined,
    (place, problem) => problems.push(`${place}: ${problem}`),
  )

function translated({ models, attributes, compatibility }: AnyConfig) {
  if (compatibility === 'sails' && isObject(models))
    return { ...translateWaterline(models, attributes), readRules: rulesOfSails }
  return { models, attributes, notes: [], readRules: undefined }
}

const emptyAccess =
  "access contains no rule. Write what it allows, such as { read: true }, or { read: false } to forbid everything, or 'public' to allow everything"

/** Of members that are valid each: those that contradict each other, and an `access` without any. */
function contradictions({
  rest,
  shortcuts,
  access,
  cors,
  limits,
  auth,
  broker,
  database,
}: AnyConfig): readonly string[] {
  const all: Limits = { ...defaultLimits, ...limits }
  return [
    ...(rest === false && shortcuts === false ? ['rest and shortcuts are both off: no route is served'] : []),
    ...(cors?.origins === '*' && cors.credentials === true
      ? ['cors.credentials needs a list in cors.origins instead of "*"']
      : []),
    ...(broker !== undefined && !/^postgres(ql)?:/.test(database ?? '')
      ? ['broker needs a PostgreSQL database; processes on one SQLite file notice writes without it']
      : []),
    ...(typeof access === 'object' && Object.values(access).every((rule) => rule === undefined) ? [emptyAccess] : []),
    ...(auth?.jwt ? jwtProblems(auth.jwt) : []),
    ...(auth && !auth.identify && !auth.jwt ? ['auth needs identify or jwt'] : []),
    ...(all.defaultLimit > all.maxLimit ? ['limits.defaultLimit is larger than limits.maxLimit'] : []),
  ]
}

/** Throws a ConfigError. */
export function assertIsObject(config: unknown): void {
  if (typeof config === 'function')
    throw new ConfigError(['the configuration must be an object, and this is a function: export what it returns'])
  if (typeof config !== 'object' || config === null) throw new ConfigError(['the configuration must be an object'])
  if (typeof (config as { readonly listen?: unknown }).listen === 'function')
    throw new ConfigError(['the configuration is a service: export what createService is given'])
}
