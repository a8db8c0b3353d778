import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineModels } from '../model/define.ts'
import { defaultLimits } from '../support/limits.ts'
import { nameOf, parseSort } from './parse-sort.ts'

const text = { type: 'string' } as const
const models = defineModels({
  task: { attributes: { title: text, project: { model: 'project' } } },
  project: { attributes: { desc: text } },
})
const sorted = (name: string, sort: string) =>
  parseSort(sort, models.get(name) ?? assert.fail(), defaultLimits)
    .slice(0, -1)
    .map((by) => `${nameOf(by)} ${by.direction}`)

for (const [model, sort, expected] of [
  ['task', 'project.desc', 'project.desc asc'],
  ['task', 'project.desc DESC', 'project.desc desc'],
  ['project', 'desc', 'desc asc'],
] as const)
  test(`"${sort}" is an attribute with the name of a direction`, () => {
    assert.deepEqual(sorted(model, sort), [expected])
  })

for (const sort of ['title.desc', 'title:desc', '-title'])
  test(`"${sort}" is the notation of another system`, () => {
    assert.throws(() => sorted('task', sort), /"sort" is written "title DESC"/)
  })
