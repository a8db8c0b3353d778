import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '../../operation/operations.ts'
import { definitionsOf } from '../../service/config/check-config.ts'
import { routesOf } from '../../service/dispatch/model-routes.ts'
import { ConfigError } from '../config-error.ts'
import { reservedActionNames } from './declare-actions.ts'

const run = () => 1
const pet = (actions: unknown, more: object = {}) => ({
  models: {
    pet: { attributes: { name: { type: 'string' }, owner: { model: 'owner' } }, actions, ...more },
    owner: { attributes: { pets: { collection: 'pet', via: 'owner' } } },
  },
})
const service = (actions: unknown) => ({ models: { pet: { attributes: {} } }, actions })

const refused: readonly (readonly [what: string, config: object, problem: RegExp])[] = [
  [
    'a name of an operation',
    pet({ update: { on: 'record', run } }),
    /pet\.actions\.update: an operation or a route has this name/,
  ],
  ['in any letter case', pet({ FINDONE: { on: 'model', run } }), /FINDONE: an operation or a route/],
  [
    'a name of an association',
    pet({ Owner: { on: 'record', run } }),
    /pet\.actions\.Owner: an association has this name/,
  ],
  ['a name that objects inherit', pet({ toString: { on: 'model', run } }), /toString: an operation or a route/],
  ['a prototype', pet(JSON.parse('{ "__proto__": { "on": "model" } }')), /__proto__: the name of an action consists/],
  ['a name of digits', pet({ 7: { on: 'model', run } }), /the name of an action consists of letters/],
  ['a name with a slash', pet({ 'a/b': { on: 'model', run } }), /the name of an action consists of letters/],
  [
    'two names of different letter case',
    pet({ adopt: { on: 'record', run }, Adopt: { on: 'model', run } }),
    /differs from the action "adopt" in letter case/,
  ],
  ['an unknown subject', pet({ adopt: { on: 'pet', run } }), /`on` must be 'record' or 'model' or 'service'/],
  [
    'an action of the service in a model',
    pet({ adopt: { on: 'service', run } }),
    /`on` must be 'record' or 'model' here/,
  ],
  ['an action of a model in the service', service({ adopt: { on: 'record', run } }), /`on` must be 'service' here/],
  ['a missing function', pet({ adopt: { on: 'record' } }), /adopt: `run` is missing/],
  ['a function alone', pet({ adopt: run }), /the definition of an action must be an object/],
  ['a schema that is none', pet({ adopt: { on: 'record', run, input: {} } }), /`input` must be a Standard Schema/],
  [
    'an unknown option',
    pet({ adopt: { on: 'record', run, inputs: {} } }),
    /`inputs` is not an option of an action; did you mean `input`/,
  ],
  ['another method', pet({ adopt: { on: 'record', run, method: 'PUT' } }), /`method` must be 'POST' or 'GET'/],
  [
    'a transaction by GET',
    pet({ adopt: { on: 'record', run, method: 'GET', transaction: true } }),
    /`transaction` cannot be used with method 'GET'/,
  ],
  [
    'a rule that is none',
    pet({ adopt: { on: 'record', run, access: 7 } }),
    /`access` must be true, false, a role, or a function/,
  ],
  ['actions that are none', pet(7), /`actions` must be an object/],
  ['a list of actions', service([]), /actions must be an object/],
  ['the address of a model', service({ Pet: { on: 'service', run } }), /actions\.pet: this address is taken/],
  [
    'a plural address',
    { ...service({ pets: { on: 'service', run } }), pluralize: true },
    /actions\.pets: this address is taken/,
  ],
  ['a reserved address', service({ batch: { on: 'service', run } }), /batch: an operation or a route has this name/],
  [
    'an action by GET that hides a record',
    {
      models: {
        country: {
          primaryKey: 'code',
          attributes: { code: { type: 'string', required: true } },
          actions: { sum: { on: 'model', method: 'GET', run } },
        },
      },
    },
    /country\.actions\.sum: by GET it would hide the record with this id/,
  ],
]
for (const [what, config, problem] of refused) {
  test(`refused at start: ${what}`, async () => {
    await assert.rejects(
      async () => routesOf(config as never),
      (error) => error instanceof ConfigError && problem.test(error.message),
    )
  })
}

test('all problems of actions are reported at once', () => {
  const config = pet({ update: { on: 'record', run }, adopt: { on: 'record' } })
  assert.throws(
    () => definitionsOf(config as never),
    (error) => error instanceof ConfigError && error.problems.length === 2,
  )
})

test('every operation is a reserved name', () => {
  for (const name of Object.keys(operations)) assert.ok(reservedActionNames.has(name.toLowerCase()), name)
})

test('the routes of actions follow those of their model', async () => {
  const [ofPet] = await routesOf({
    ...pet({
      adopt: { on: 'record', run },
      'import-all': { on: 'model', run },
      report: { on: 'model', method: 'GET', run },
    }),
    prefix: '/api',
    restPrefix: 'v2',
    pluralize: true,
  } as never)
  assert.deepEqual(
    ofPet?.lines.slice(-3).map(({ method, path }) => `${method} ${path}`),
    ['POST /api/v2/pets/:id/adopt', 'POST /api/v2/pets/import-all', 'GET /api/v2/pets/report'],
  )
})
