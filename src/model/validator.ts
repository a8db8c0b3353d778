import { createRequire } from 'node:module'
import type Validator from 'validator'

const names = [
  'isAlpha',
  'isAlphanumeric',
  'isCreditCard',
  'isEmail',
  'isHexColor',
  'isHexadecimal',
  'isIP',
  'isNumeric',
  'isURL',
  'isUUID',
] as const

type Functions = Pick<typeof Validator, (typeof names)[number]>

const require = createRequire(import.meta.url)
let functions: Functions | undefined

/**
 * The functions of the library that are used: all of it would take a tenth of a second. They are loaded for the first
 * rule, because they take two megabytes and many services have none.
 */
export function validator(): Functions {
  functions ??= Object.fromEntries(
    names.map((name) => [name, require(`validator/lib/${name}.js`).default]),
  ) as Functions
  return functions
}
