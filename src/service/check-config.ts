import { ConfigError } from '../model/config-error.ts'
import { defineModels } from '../model/define.ts'
import type { ModelDefinitions } from '../model/definition.ts'
import type { Models } from '../model/model.ts'
import { migrateModes } from '../storage/schema.ts'
import { defaultLimits, type Limits, limitTable } from '../support/limits.ts'
import type { AnyConfig, Config, SocketOptions } from './config.ts'

type Check = (value: unknown) => string | undefined

const isBoolean: Check = (value) => (typeof value === 'boolean' ? undefined : 'is true or false')
const isFunction: Check = (value) => (typeof value === 'function' ? undefined : 'is a function')
const isObject: Check = (value) => (typeof value === 'object' && value !== null ? undefined : 'is an object')
const isText: Check = (value) => (typeof value === 'string' && value !== '' ? undefined : 'is a text')
const isObjectOrFalse: Check = (value) =>
  value === false || isObject(value) === undefined ? undefined : 'is an object, or false'
const isOrigins: Check = (value) =>
  Array.isArray(value) &&
  value.every((item) => typeof item === 'string' && /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s*A-Z]+$/.test(item))
    ? undefined
    : 'is a list of origins, each written as "https://app.example", without a path, in lower case'
const isPath: Check = (value) =>
  typeof value === 'string' && /^\/?[\w\-.~]+(\/[\w\-.~]+)*\/?$/.test(value) ? undefined : 'is a path, such as "/api"'
const isPort: Check = (value) =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535
    ? undefined
    : 'is a port number from 0 to 65535'
const isOneOf =
  (...words: readonly string[]): Check =>
  (value) =>
    words.includes(value as string) ? undefined : `is one of ${words.map((word) => `"${word}"`).join(', ')}`

const checks: Readonly<Record<keyof Config, Check>> = {
  models: isObject,
  attributes: isObject,
  database: isText,
  migrate: isOneOf(...migrateModes),
  unknownAttributes: isOneOf('refuse', 'ignore'),
  limits: isObject,
  port: isPort,
  host: isText,
  cors: isObject,
  sockets: isObjectOrFalse,
  welcome: isBoolean,
  public: isText,
  seed: isFunction,
  report: isFunction,
  clock: isObject,
  uuid: isFunction,
  prefix: isPath,
  restPrefix: isPath,
  pluralize: isBoolean,
  rest: isBoolean,
  shortcuts: isBoolean,
  shortcutWrites: isBoolean,
  populate: isBoolean,
  jsonp: isBoolean,
}

const socketChecks: Readonly<Record<keyof SocketOptions, Check>> = {
  path: isPath,
  onlyAllowOrigins: isOrigins,
  mirror: isBoolean,
}

/** The models that a configuration declares. Throws one ConfigError with everything that is wrong in it and in them. */
export function modelsOf(config: AnyConfig): Models {
  if (typeof config !== 'object' || config === null) throw new ConfigError(['the configuration is not an object'])
  const problems = [...settingProblems(config)]
  try {
    const models =
      typeof config.models === 'object' ? defineModels(config.models as ModelDefinitions, config.attributes) : undefined
    if (models && problems.length === 0) return models
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    problems.push(...error.problems)
  }
  throw new ConfigError(problems)
}

function settingProblems(config: AnyConfig): readonly string[] {
  const problems = [...problemsIn(config, checks, '')]
  if (config.sockets && typeof config.sockets === 'object')
    problems.push(...problemsIn(config.sockets, socketChecks, 'sockets.'))
  if (config.models === undefined) problems.push('models are missing')
  if (config.rest === false && config.shortcuts === false)
    problems.push('rest and shortcuts are both off: nothing would be served')
  problems.push(...limitProblems(config.limits ?? {}))
  return problems
}

function problemsIn(settings: object, checks: Readonly<Record<string, Check>>, prefix: string): readonly string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (!check) return [`there is no setting "${prefix}${name}"`]
    const problem = value === undefined ? undefined : check(value)
    return problem === undefined ? [] : [`${prefix}${name} ${problem}`]
  })
}

function limitProblems(limits: Partial<Limits>): readonly string[] {
  const problems = Object.entries(limits).flatMap(([name, value]) => {
    if (!Object.hasOwn(limitTable, name)) return [`there is no limit "${name}"`]
    return Number.isInteger(value) && value >= 0 ? [] : [`limits.${name} is a whole number, 0 or more`]
  })
  const all = { ...defaultLimits, ...limits }
  if (all.defaultLimit > all.maxLimit) problems.push('limits.defaultLimit is larger than limits.maxLimit')
  return problems
}
