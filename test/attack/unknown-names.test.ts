import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createService, type Service } from '../../src/index.ts'

/* To look for a name like an unknown one is to compare it with all others: a request chooses how many and how long they are. */

const long = (index: number) => `a_long_name_${index}_`.padEnd(100, 'x')
const columns = Array.from({ length: 100 }, (_, index) => [long(index), { type: 'string' }])
let service: Service
before(async () => {
  const models = {
    pet: { attributes: { name: { type: 'string' } } },
    wide: { attributes: Object.fromEntries(columns) },
  }
  service = (await createService({ models, database: 'memory:' } as never)) as never
})
after(() => service.close())

async function messages(path: string, values: unknown): Promise<readonly string[]> {
  const headers = { 'Content-Type': 'application/json' }
  const request = new Request(`http://localhost${path}`, { method: 'POST', headers, body: JSON.stringify(values) })
  const { invalidAttributes } = (await (await service.fetch(request)).json()) as {
    invalidAttributes: Record<string, readonly { message: string }[]>
  }
  return Object.values(invalidAttributes).map(([violation]) => violation?.message ?? '')
}

test('a name is suggested for each of some unknown ones', async () => {
  const names = Array.from({ length: 50 }, (_, index) => [`nam${index}`, 1])
  const found = await messages('/pet', Object.fromEntries(names))
  assert.equal(found.length, 50)
  for (const message of found.slice(0, 10)) assert.match(message, /; did you mean "name"\?$/)
})

test('few names are suggested where all are long and many', async () => {
  const found = await messages(
    '/wide',
    Object.fromEntries(columns.slice(0, 50).map(([name], index) => [`${name}`.replace('x', 'y') + index, 1])),
  )
  assert.equal(found.length, 50)
  assert.ok(found.filter((message) => message.includes('did you mean')).length <= 1)
})

test('names are suggested for one record of a list', async () => {
  assert.deepEqual(await messages('/pet', [{ name: 'Rex' }, { nmae: 1 }, { nmae: 1 }]), [
    'is not an attribute of pet; did you mean "name"?',
    'is not an attribute of pet',
  ])
})
