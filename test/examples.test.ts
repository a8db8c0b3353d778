import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { JsonObject } from '../src/protocol/json.ts'
import { ask, Command, folder, root } from './command.ts'

const clinic = join(root, 'examples/clinic')
const hasCurl = spawnSync('curl', ['--version']).status === 0

describe('the clinic', () => {
  const args = ['start', '--config', join(clinic, 'keelson.config.ts'), '--port', '0', '--database', 'sqlite:clinic.db']
  const command = new Command(args, { cwd: folder() })
  let url = ''

  before(async () => {
    url = await command.url()
    await command.until(/Ctrl\+C stops/)
  })

  test('says what it has made', () => {
    assert.match(command.stdout, /Seeding 100 %, (\d+) of \1\n/)
    assert.match(command.stdout, /Models +11 · /)
    assert.equal(command.stderr, '')
  })

  const counts = {
    owner: 800,
    pet: 1050,
    species: 8,
    tag: 12,
    visit: 2400,
    prescription: 2600,
    treatment: 22,
    vet: 12,
    certification: 24,
    specialty: 10,
    room: 7,
  }
  for (const [model, count] of Object.entries(counts)) {
    test(`has ${count} of ${model}`, async () => {
      const response = await fetch(`${url}/${model}?count=true&limit=1`)
      assert.equal(response.headers.get('x-total-count'), String(count))
    })
  }

  const one = async (path: string, where: JsonObject): Promise<JsonObject> => {
    const [record] = await ask(
      `${url}/${path}?limit=1&populate=false&where=${encodeURIComponent(JSON.stringify(where))}`,
    )
    assert.ok(record, `no ${path} where ${JSON.stringify(where)}`)
    return record
  }

  /** From one record to the others, and from each of those back to it. */
  const ways: readonly (readonly [kind: string, from: string, there: string, to: string, back: string])[] = [
    ['to-one and one-to-many', 'pet', 'owner', 'owner', 'pets'],
    ['to-one, to a key that is a text', 'pet', 'species', 'species', 'pets'],
    ['within one model', 'pet', 'mother', 'pet', 'puppies'],
    ['within one model', 'owner', 'referredBy', 'owner', 'referrals'],
    ['from a key that is a UUID', 'visit', 'vet', 'vet', 'visits'],
    ['many-to-many, both sides', 'pet', 'tags', 'tag', 'pets'],
    ['through a model of its own', 'vet', 'specialties', 'specialty', 'vets'],
    ['through a model of its own, from a UUID', 'visit', 'treatments', 'treatment', 'visits'],
  ]
  const keyOf = (model: string) => (model === 'species' ? 'code' : 'id')
  for (const [kind, from, there, to, back] of ways) {
    test(`${kind}: ${from}.${there} and ${to}.${back}`, async () => {
      const start = await one(from, { [there]: { [keyOf(to)]: { '!=': null } } })
      const id = start[keyOf(from)]
      const [found] = [await ask(`${url}/${from}/${id}/${there}`)].flat() as JsonObject[]
      assert.ok(found)
      const returned = await ask(`${url}/${to}/${found[keyOf(to)]}/${back}?limit=1000&populate=false`)
      assert.ok(returned.some((record) => record[keyOf(from)] === id))
    })
  }

  test('many-to-many, one-sided: room.equippedFor', async () => {
    const { id } = await one('room', { name: 'Small theatre' })
    const treatments = await ask(`${url}/room/${id}/equippedFor?populate=false`)
    assert.deepEqual(new Set(treatments.map(({ kind }) => kind)), new Set(['surgery']))
  })

  test('a model in between has values of its own', async () => {
    const { dose, unit, days } = await one('prescription', { treatment: { name: 'Insulin' } })
    assert.deepEqual({ dose, unit, days }, { dose: 0.4, unit: 'ml', days: 30 })
  })

  test('has a page', async () => {
    const response = await fetch(url, { headers: { Accept: 'text/html' } })
    const html = await response.text()
    for (const model of Object.keys(counts)) assert.ok(html.includes(`<section id="${model}"`), model)
  })

  test('does everything that its README says', { skip: !hasCurl && 'curl is not installed' }, async () => {
    const readme = readFileSync(join(clinic, 'README.md'), 'utf8')
    const [, block] = /## Things to ask\n\n```sh\n([\s\S]+?)```/.exec(readme) as unknown as [string, string]
    const lines = block
      .replaceAll('\\\n', '')
      .split('\n')
      .filter((line) => line.startsWith('curl '))
    const statuses: number[] = []
    for (const line of lines) {
      const here = line.replace('http://localhost:1337', url).replace(/^curl /, 'curl -s -w "\\n%{http_code}" ')
      const { stdout } = await promisify(execFile)('sh', ['-c', here])
      const [, body, status] = /^([\s\S]*)\n(\d+)$/.exec(stdout) as unknown as [string, string, string]
      assert.notEqual(body, '[]', line)
      statuses.push(Number(status))
    }
    assert.deepEqual(statuses, [200, 200, 200, 200, 200, 201, 200, 400])
  })
})
