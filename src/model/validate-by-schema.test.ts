import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type } from 'arktype'
import * as v from 'valibot'
import { z } from 'zod'
import { bare, complaints, context, pets, run } from '../../test/support/validation.ts'
import { ServiceError } from '../protocol/errors.ts'
import type { Json } from '../protocol/json.ts'
import type { AttributeDefinition } from './definition.ts'
import type { StandardSchema } from './standard-schema.ts'
import { validate } from './validate.ts'

describe('a schema', () => {
  const schemas: { readonly [library: string]: unknown } = {
    zod: z.object({ size: z.number(), tags: z.array(z.string()).default([]) }),
    valibot: v.object({ size: v.number(), tags: v.optional(v.array(v.string()), []) }),
    arktype: type({ size: 'number', tags: type('string[]').default(() => []) }),
  }
  for (const [library, schema] of Object.entries(schemas)) {
    const definition: AttributeDefinition = { type: 'json', schema: schema as StandardSchema }

    test(`of ${library} validates and may transform the value`, async () => {
      assert.deepEqual(await run(pets({ ...bare, it: definition }), { it: { size: 1 } }), { it: { size: 1, tags: [] } })
      const [complaint] = (await complaints(definition, { it: { size: 1, tags: [1] } })) ?? []
      assert.match(complaint ?? '', /^schema: is not valid at tags\.0: /)
    })
  }

  /** An asynchronous schema. */
  const later = (answer: (value: unknown) => object): StandardSchema =>
    ({
      '~standard': { version: 1, vendor: 'test', validate: async (value: unknown) => answer(value) },
    }) as unknown as StandardSchema
  const refusing = later(() => ({ issues: [{ message: 'too small', path: ['a', { key: 0 }] }] }))
  const doubling = later((value) => ({ value: [value, value] }))

  test('may be asynchronous: assignments keep their order', async () => {
    const model = pets({ ...bare, a: { type: 'json', schema: doubling }, b: { type: 'string' } })
    const pending = validate(model, { a: 1, b: 'x' }, 'create', context)
    assert.ok(pending instanceof Promise)
    assert.deepEqual(
      (await pending).map(({ attribute, value }) => [attribute.name, value]),
      [
        ['a', [1, 1]],
        ['b', 'x'],
      ],
    )
  })

  test('is reported together with earlier violations', async () => {
    const model = pets({ ...bare, a: { type: 'json', schema: refusing }, b: { type: 'number' } })
    await assert.rejects(run(model, { a: 1, b: 'x' }), {
      message: 'b must be a number; a is not valid at a.0: too small',
    })
  })

  test('is not called for null and omitted values', async () => {
    const model = pets({ ...bare, it: { type: 'json', schema: refusing } })
    assert.deepEqual(await run(model, { it: null }), { it: null })
    assert.deepEqual(await run(model, {}), { it: null })
    assert.deepEqual(await run(model, {}, 'update'), {})
  })

  test('may transform to null if null is allowed', async () => {
    const model = pets({ ...bare, it: { type: 'json', schema: later(() => ({ value: null })) } })
    assert.deepEqual(await run(model, { it: 1 }), { it: null })
  })

  test('reports a limited number of issues', async () => {
    const many = later(() => ({ issues: Array.from({ length: 1000 }, () => ({ message: 'no' })) }))
    assert.equal((await complaints({ type: 'json', schema: many }, { it: 1 }))?.length, 20)
  })

  const broken: readonly (readonly [title: string, schema: StandardSchema, message: RegExp])[] = [
    ['returns a value that is not JSON', later(() => ({ value: new Date() })), /output of `schema` is not JSON/],
    ['returns undefined', later(() => ({ value: undefined })), /output of `schema` is not JSON/],
    [
      'returns null where null is not allowed',
      later(() => ({ value: null })),
      /The output of the `schema` of pet.it is null/,
    ],
    [
      'fails',
      later(() => {
        throw new Error('oops')
      }),
      /oops/,
    ],
  ]
  for (const [title, schema, message] of broken) {
    test(`that ${title} is an internal error`, async () => {
      const model = pets({ ...bare, it: { type: 'json', required: true, schema } })
      await assert.rejects(run(model, { it: 1 }), (error: Error) => {
        assert.ok(!(error instanceof ServiceError))
        assert.match(error.message, message)
        return true
      })
    })
  }

  test('that rejects after another failure causes no unhandled rejection', async () => {
    const unhandled: unknown[] = []
    const listener = (reason: unknown): number => unhandled.push(reason)
    process.on('unhandledRejection', listener)
    const failing = later(() => {
      throw new Error('oops')
    })
    const model = pets({
      ...bare,
      a: { type: 'json', schema: failing },
      b: { type: 'number', defaultsTo: (() => 'x') as () => Json },
    })
    assert.throws(() => validate(model, { a: 1 }, 'create', context), /`defaultsTo` of pet.b/)
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', listener)
    assert.deepEqual(unhandled, [])
  })
})
