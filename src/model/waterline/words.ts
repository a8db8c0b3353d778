import { type AttributeDefinition, typeNames } from '../definition.ts'
import { validator } from '../validator.ts'

/*
 * The words of Waterline 0.x and 1.x that differ from the options of this package, as tables. `docs/coming-from-sails.md`
 * has the same tables.
 */

/** Type names, in lower case, and what they become. Types of databases are included, because 0.x accepted them. */
export const typeWords: Readonly<Record<string, AttributeDefinition>> = {
  ...every('string char varchar text tinytext mediumtext longtext time objectid', { type: 'string' }),
  email: { type: 'string', isEmail: true },
  url: { type: 'string', isURL: true },
  uuid: { type: 'string', isUUID: true },
  ...every('integer int tinyint smallint mediumint', { type: 'number', isInteger: true }),
  ...every('bigint biginteger', { type: 'bigint' }),
  ...every('number float double real decimal numeric', { type: 'number' }),
  ...every('boolean bool', { type: 'boolean' }),
  ...every('date datetime timestamp', { type: 'datetime' }),
  ...every('json array object', { type: 'json' }),
  ...every('binary blob longblob', { type: 'binary' }),
  ref: { type: 'ref' },
}

/** Options with another name here. */
export const renamedOptions: Readonly<Record<string, keyof AttributeDefinition>> = {
  enum: 'isIn',
  in: 'isIn',
  email: 'isEmail',
  url: 'isURL',
  uuid: 'isUUID',
  int: 'isInteger',
  integer: 'isInteger',
  is: 'regex',
  protected: 'hidden',
  protect: 'hidden',
}

/** Options that are refused, and why. */
export const refusedOptions: Readonly<Record<string, string>> = {
  encrypt:
    'the texts that Sails has encrypted would be served as they are stored. Store them decrypted, by `.decrypt()` in Sails, and leave the option out',
}

/** Options that repeat the type, describe the attribute, or concern other parts of Sails. They are ignored. */
export const ignoredOptions: ReadonlySet<string> = new Set([
  ...words('string text array json object boolean binary date datetime number finite'),
  ...words('isString isNumber isBoolean isDate'),
  ...words('dominant on onKey references'),
  ...words('label example extendedDescription moreInfoUrl whereToGet sideEffects generator meta'),
])

/** Options of a model that concern other parts of Sails. They are ignored. */
export const ignoredModelOptions: ReadonlySet<string> = new Set([
  ...words('identity globalId schema connection datastore adapter migrate meta autosubscribe autoWatch'),
  ...words('dynamicFinders associationFinders syncable safe fetchRecordsOnCreate fetchRecordsOnCreateEach'),
  ...words('fetchRecordsOnUpdate fetchRecordsOnDestroy cascadeOnDestroy archiveModelIdentity'),
])

/** A rule that becomes a `custom` function. */
export interface CheckedRule {
  /** `value` is the text of the value, and `parameter` the value of the option. */
  readonly test: (value: string, parameter: never) => boolean
  readonly message: (parameter: unknown) => string
}

const must = (message: string, test: (value: string) => boolean): CheckedRule => ({
  test,
  message: () => `must be ${message}`,
})
const mustNot = (message: string, test: CheckedRule['test']): CheckedRule => ({
  test,
  message: (parameter) => `must not ${message} ${parameter}`,
})
const time = (parameter: unknown): number => new Date(parameter as string | number | Date).getTime()
const before: CheckedRule = {
  test: (value, limit) => Date.parse(value) < time(limit),
  message: (limit) => `must be before ${new Date(time(limit)).toISOString()}`,
}
const after: CheckedRule = {
  test: (value, limit) => Date.parse(value) > time(limit),
  message: (limit) => `must be after ${new Date(time(limit)).toISOString()}`,
}
const notIn: CheckedRule = mustNot('be one of', (value, list: readonly unknown[]) => !list.map(String).includes(value))
const creditCard = must('a credit card number', (value) => validator().isCreditCard(value))
const hexColor = must('a hexadecimal color', (value) => validator().isHexColor(value))
const notEmpty = must('a text that is not empty', (value) => value.trim() !== '')
const decimal = must('a decimal number', (value) => validator().isNumeric(value))
const ip = must('an IP address', (value) => validator().isIP(value))

/** Rules without a counterpart here, by their names in 0.x and 1.x. */
export const checkedRules: Readonly<Record<string, CheckedRule>> = {
  alpha: must('letters', (value) => validator().isAlpha(value)),
  alphadashed: must('letters, - and _', (value) => /^[a-z_-]*$/i.test(value)),
  alphanumeric: must('letters and digits', (value) => validator().isAlphanumeric(value)),
  alphanumericdashed: must('letters, digits, - and _', (value) => /^[a-z0-9_-]*$/i.test(value)),
  numeric: must('digits', (value) => validator().isNumeric(value)),
  decimal,
  float: decimal,
  hexadecimal: must('hexadecimal', (value) => validator().isHexadecimal(value)),
  hexColor,
  isHexColor: hexColor,
  lowercase: must('in lower case', (value) => value === value.toLowerCase()),
  uppercase: must('in upper case', (value) => value === value.toUpperCase()),
  ip,
  isIP: ip,
  ipv4: must('an IPv4 address', (value) => validator().isIP(value, 4)),
  ipv6: must('an IPv6 address', (value) => validator().isIP(value, 6)),
  creditcard: creditCard,
  isCreditCard: creditCard,
  urlish: must('a URL', (value) => validator().isURL(value)),
  uuidv3: must('a UUID of version 3', (value) => validator().isUUID(value, 3)),
  uuidv4: must('a UUID of version 4', (value) => validator().isUUID(value, 4)),
  notEmpty,
  isNotEmptyString: notEmpty,
  truthy: must('true', (value) => !['', '0', 'false'].includes(value)),
  falsey: must('false', (value) => ['', '0', 'false'].includes(value)),
  before,
  isBefore: before,
  after,
  isAfter: after,
  notIn,
  isNotIn: notIn,
  not: mustNot('be', (value, other: unknown) => value !== String(other)),
  contains: { test: (value, part: unknown) => value.includes(String(part)), message: (part) => `must contain ${part}` },
  notContains: mustNot('contain', (value, part: unknown) => !value.includes(String(part))),
  equals: { test: (value, other: unknown) => value === String(other), message: (other) => `must be ${other}` },
  len: {
    test: (value, [min, max]: readonly number[]) => value.length >= (min ?? 0) && value.length <= (max ?? Infinity),
    message: (range) => `must have a length of ${(range as readonly number[]).join(' to ')}`,
  },
}

/** The rules that an empty text violates. */
export const refusesEmpty: ReadonlySet<string> = new Set(words('notEmpty isNotEmptyString truthy'))

const functionAdvice = {
  toJSON: '`hidden: true` keeps an attribute out of responses',
  lifecycle: '`hooks` run functions before and within the transaction of a write',
  method: 'functions of the application call the records of the service',
} as const

export const lifecycleCallback = /^(before|after)(Validate|Create|Update|Destroy)$/

/** The type to use instead of a type of Waterline or of a database. */
export function typeHint(type: string | undefined): string {
  if (type === undefined || (typeNames as readonly string[]).includes(type)) return ''
  const { type: known, ...options } = typeWords[type.toLowerCase()] ?? {}
  const flags = Object.keys(options).map((option) => ` with \`${option}\``)
  return known === undefined ? '' : `; use type "${known}"${flags.join('')}`
}

/** What replaces a function of a model. */
export function adviceFor(name: string): string {
  if (name === 'toJSON' || name === 'customToJSON') return functionAdvice.toJSON
  return lifecycleCallback.test(name) ? functionAdvice.lifecycle : functionAdvice.method
}

export const isWaterlineWord = (option: string): boolean =>
  ignoredOptions.has(option) ||
  ignoredModelOptions.has(option) ||
  Object.hasOwn(checkedRules, option) ||
  ['size', 'notNull', 'autoPK', 'autoCreatedAt', 'autoUpdatedAt', 'types'].includes(option)

function words(text: string): readonly string[] {
  return text.split(' ')
}

function every(names: string, definition: AttributeDefinition): Readonly<Record<string, AttributeDefinition>> {
  return Object.fromEntries(words(names).map((name) => [name, definition]))
}
