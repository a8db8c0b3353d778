import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService } from '../../index.ts'
import { translateWaterline } from './translate.ts'

/* Waterline 0.x sets `createdAt` and `updatedAt` unless its options of the model turn them off, however they are declared. */

const cases: readonly (readonly [title: string, model: object, automatic: readonly string[]])[] = [
  ['none declared', { attributes: {} }, ['createdAt', 'updatedAt']],
  ['a type', { attributes: { createdAt: 'datetime', updatedAt: 'DATETIME' } }, ['createdAt', 'updatedAt']],
  ['a column', { attributes: { createdAt: { type: 'datetime', columnName: 'created' } } }, ['createdAt', 'updatedAt']],
  ['an index', { attributes: { updatedAt: { type: 'datetime', index: true } } }, ['createdAt', 'updatedAt']],
  [
    'a default',
    { attributes: { createdAt: { type: 'datetime', defaultsTo: () => new Date(0) } } },
    ['createdAt', 'updatedAt'],
  ],
  [
    'a constant default',
    { attributes: { updatedAt: { type: 'datetime', defaultsTo: new Date(0) } } },
    ['createdAt', 'updatedAt'],
  ],
  ['a required one', { attributes: { createdAt: { type: 'datetime', required: true } } }, ['createdAt', 'updatedAt']],
  ['turned off', { autoCreatedAt: false, autoUpdatedAt: false, attributes: { createdAt: 'datetime' } }, []],
  ['turned off by itself', { attributes: { createdAt: { type: 'datetime', autoCreatedAt: false } } }, ['updatedAt']],
  ['another name', { autoUpdatedAt: 'changed', attributes: {} }, ['createdAt', 'changed']],
  [
    'another name that is declared',
    { autoUpdatedAt: 'changed', attributes: { changed: { type: 'datetime', columnName: 'changed_at' } } },
    ['createdAt', 'changed'],
  ],
  [
    'a type of a time',
    { attributes: { createdAt: 'timestamp', updatedAt: { type: 'date' } } },
    ['createdAt', 'updatedAt'],
  ],
  ['a type that holds no time', { attributes: { createdAt: 'json' } }, ['updatedAt']],
  ['version 1', { attributes: { createdAt: { type: 'number', autoCreatedAt: true } } }, ['createdAt', 'updatedAt']],
  ['version 1, not automatic', { attributes: { createdAt: { type: 'number', required: true } } }, ['updatedAt']],
]

for (const [title, model, automatic] of cases) {
  test(`the automatic times of a model of Waterline: ${title}`, async () => {
    await using service = await createService({
      database: 'memory:',
      compatibility: 'sails',
      clock: { now: () => 1_000 },
      models: { note: model },
    } as never)
    // biome-ignore lint/suspicious/noExplicitAny: the models of the cases differ
    const { note } = service.system.records as any
    const times = ['createdAt', 'updatedAt', 'changed']
    const given = title === 'version 1, not automatic' ? { createdAt: 7 } : {}
    const created = await note.create(given)
    const isNow = (name: string) => created[name] === 1_000 || created[name] === new Date(1_000).toISOString()
    assert.deepEqual(times.filter(isNow).toSorted(), automatic.toSorted())
  })
}

test('an automatic time of Waterline keeps its column and its index', () => {
  const attributes = {
    createdAt: { type: 'datetime', index: true, columnName: 'created', defaultsTo: () => new Date() },
    changed: { type: 'datetime', columnName: 'changed_at', index: true },
  }
  const { models } = translateWaterline({ note: { autoUpdatedAt: 'changed', attributes } } as never)
  assert.deepEqual(models.note?.attributes, {
    createdAt: { type: 'datetime', index: true, columnName: 'created', autoCreatedAt: true },
    changed: { type: 'datetime', columnName: 'changed_at', index: true, autoUpdatedAt: true },
    updatedAt: false,
  })
})
