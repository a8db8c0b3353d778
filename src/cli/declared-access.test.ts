import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError } from '../model/config-error.ts'
import { definitionsOf } from '../service/config/check-config.ts'
import { assertAccessDeclared, rolesWithoutAuth } from './declared-access.ts'

const run = () => 1
const config = (access: object, own: object, more: object = {}) => ({
  models: { pet: { attributes: {}, ...access, actions: { adopt: { on: 'record', run, ...own } } } },
  ...more,
})
const ping = (own: object) => ({ actions: { ping: { on: 'service', run, ...own } } })

const cases: readonly (readonly [what: string, config: object, problems: readonly string[]])[] = [
  ['nothing is declared', config({}, {}), ['pet', 'pet.actions.adopt']],
  ['the model declares rules', config({ access: { read: true } }, {}), ['pet.actions.adopt']],
  ['both declare rules', config({ access: { read: true } }, { access: false }), []],
  ['the model is public', config({ access: 'public' }, {}), []],
  ['everything is public', config({}, {}, { access: 'public', ...ping({}) }), []],
  ['the configuration has rules', config({}, {}, { access: { read: true } }), ['pet.actions.adopt']],
  ['only a share of checks is declared', config({}, {}, { access: { shadow: 0.01 } }), ['pet', 'pet.actions.adopt']],
  ['an action of the service', config({ access: 'public' }, {}, ping({})), ['actions.ping']],
  ['an action of the service with a rule', config({ access: 'public' }, {}, ping({ access: 'admin' })), []],
]
for (const [what, given, problems] of cases) {
  test(`in production, ${problems.length} declarations are missing when ${what}`, () => {
    const found = () => assertAccessDeclared(given as never)
    if (problems.length === 0) found()
    else
      assert.throws(found, (error) => {
        assert.deepEqual(
          (error as ConfigError).problems.map((problem) => problem.split(':')[0]),
          problems,
        )
        return error instanceof ConfigError
      })
  })
}

const auth = { identify: () => null }
const roleCases: readonly (readonly [what: string, config: object, roles: string | undefined])[] = [
  ['there are no rules', config({}, {}), undefined],
  ['everything is public', config({ access: 'public' }, {}, { access: 'public' }), undefined],
  ['the rules are functions', config({ access: { read: true, create: () => true } }, {}), undefined],
  [
    'the configuration names one',
    config({}, {}, { access: { read: true, create: 'editor', shadow: 0.1 } }),
    '"editor"',
  ],
  [
    'a model and its action do',
    config({ access: { read: 'vet', update: 'vet' } }, { access: 'admin' }),
    '"vet", "admin"',
  ],
  [
    'an attribute does',
    { models: { pet: { attributes: { a: { type: 'string', access: { read: 'vet' } } } } } },
    '"vet"',
  ],
  ['an action of the service does', config({}, {}, ping({ access: 'admin' })), '"admin"'],
  ['there is auth', config({ access: { read: 'vet' } }, {}, { auth }), undefined],
]
for (const [what, given, roles] of roleCases)
  test(`roles without auth are ${roles === undefined ? 'not ' : ''}a warning when ${what}`, () => {
    const { models } = definitionsOf(given as never)
    const warnings = rolesWithoutAuth(models.values(), given as never)
    assert.equal(warnings.length, roles === undefined ? 0 : 1)
    if (roles !== undefined) assert.match(String(warnings[0]), new RegExp(`the role ${roles}, and without auth`))
  })
