import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { JsonObject } from '../../src/protocol/json.ts'
import { ask, Command, folder, root } from '../support/command.ts'

const clinic = join(root, 'examples/clinic')
const admin = { headers: { Authorization: 'Bearer demo-admin' } }
const hasCurl = spawnSync('curl', ['--version']).status === 0

describe('the clinic example', () => {
  const args = ['start', '--config', join(clinic, 'keelson.config.ts'), '--port', '0', '--database', 'sqlite:clinic.db']
  const command = new Command(args, { cwd: folder() })
  let url = ''

  before(async () => {
    url = await command.url()
    await command.until(/Press Ctrl\+C to stop/)
  })

  test('prints the progress of the seed and the number of models', () => {
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
      const response = await fetch(`${url}/${model}?count=true&limit=1`, admin)
      assert.equal(response.headers.get('x-total-count'), String(count))
    })
  }

  for (const [user, path, status, count] of [
    ['demo-owner', 'visit?status=booked', 200, 5],
    ['demo-owner', 'pet?owner=1&lost=false', 200, 3],
    ['demo-vet', 'visit?status=booked&vet=2', 200, 0],
    ['demo-vet', 'pet?lost=true', 200, 6],
    [undefined, 'pet', 200, 6],
    [undefined, 'visit', 403, undefined],
    [undefined, 'owner?email=a@example.com', 400, undefined],
    ['demo-nobody', 'pet', 401, undefined],
  ] as const) {
    test(`${user ?? 'an anonymous request'}: ${path}`, async () => {
      const headers = user === undefined ? {} : { Authorization: `Bearer ${user}` }
      const response = await fetch(`${url}/${path}${path.includes('?') ? '&' : '?'}count=true&limit=1`, { headers })
      assert.equal(response.status, status)
      if (count !== undefined) assert.equal(response.headers.get('x-total-count'), String(count))
    })
  }

  const one = async (path: string, where: JsonObject): Promise<JsonObject> => {
    const [record] = await ask(
      `${url}/${path}?limit=1&populate=false&where=${encodeURIComponent(JSON.stringify(where))}`,
      admin,
    )
    assert.ok(record, `no ${path} where ${JSON.stringify(where)}`)
    return record
  }

  /** Associations that can be followed from one record to others and back. */
  const associations: readonly (readonly [kind: string, from: string, there: string, to: string, back: string])[] = [
    ['to-one and one-to-many', 'pet', 'owner', 'owner', 'pets'],
    ['to-one, to a string key', 'pet', 'species', 'species', 'pets'],
    ['within one model', 'pet', 'mother', 'pet', 'puppies'],
    ['within one model', 'owner', 'referredBy', 'owner', 'referrals'],
    ['from a UUID key', 'visit', 'vet', 'vet', 'visits'],
    ['many-to-many, both sides', 'pet', 'tags', 'tag', 'pets'],
    ['through a model', 'vet', 'specialties', 'specialty', 'vets'],
    ['through a model, from a UUID key', 'visit', 'treatments', 'treatment', 'visits'],
  ]
  const keyOf = (model: string) => (model === 'species' ? 'code' : 'id')
  for (const [kind, from, there, to, back] of associations) {
    test(`${kind}: ${from}.${there} and ${to}.${back}`, async () => {
      const start = await one(from, { [there]: { [keyOf(to)]: { '!=': null } } })
      const id = start[keyOf(from)]
      const [found] = [await ask(`${url}/${from}/${id}/${there}`, admin)].flat() as JsonObject[]
      assert.ok(found)
      const returned = await ask(`${url}/${to}/${found[keyOf(to)]}/${back}?limit=1000&populate=false`, admin)
      assert.ok(returned.some((record) => record[keyOf(from)] === id))
    })
  }

  test('many-to-many, one-sided: room.equippedFor', async () => {
    const { id } = await one('room', { name: 'Small theatre' })
    const treatments = await ask(`${url}/room/${id}/equippedFor?populate=false`, admin)
    assert.deepEqual(new Set(treatments.map(({ kind }) => kind)), new Set(['surgery']))
  })

  test('a junction model has attributes of its own', async () => {
    const { dose, unit, days } = await one('prescription', { treatment: { name: 'Insulin' } })
    assert.deepEqual({ dose, unit, days }, { dose: 0.4, unit: 'ml', days: 30 })
  })

  test('has visits on the day of the seed, for its live page', async () => {
    const from = new Date()
    from.setHours(0, 0, 0, 0)
    const day = { '>=': from.toISOString(), '<': new Date(from.getTime() + 86_400_000).toISOString() }
    const where = encodeURIComponent(JSON.stringify({ startsAt: day, status: 'booked' }))
    assert.ok((await ask(`${url}/visit?where=${where}&populate=false`, admin)).length >= 10)
  })

  test('prints the address of its live page', async () => {
    assert.match(command.stdout, new RegExp(`Pages +${url}/board\\.html\\n`))
    assert.match(command.stdout, new RegExp(`${url}/live\\.html\\n`))
    assert.match(await (await fetch(`${url}/live.html`)).text(), /<title>Visits · Clinic<\/title>/)
    assert.match(command.stdout, new RegExp(`${url}/users\\.html\\n`))
  })

  test('has a landing page', async () => {
    const response = await fetch(url, { headers: { Accept: 'text/html' } })
    const html = await response.text()
    for (const model of Object.keys(counts)) assert.ok(html.includes(`<section id="${model}"`), model)
  })

  /** Runs the curl commands of the first block after `marker` and returns their statuses. */
  async function statusesOf(page: string, marker: string): Promise<readonly number[]> {
    const text = readFileSync(join(root, page), 'utf8')
    const block = text.slice(text.indexOf(marker)).split('```sh\n')[1]?.split('```')[0] ?? ''
    const commands = block
      .replaceAll('\\\n', '')
      .split('\n')
      .filter((line) => line.startsWith('curl '))
    const statuses: number[] = []
    for (const command of commands) {
      const here = command.replace('http://localhost:1337', url).replace(/^curl /, 'curl -s -w "\\n%{http_code}" ')
      const { stdout } = await promisify(execFile)('sh', ['-c', here])
      const [, body, status] = /^([\s\S]*)\n(\d+)$/.exec(stdout) as unknown as [string, string, string]
      assert.notEqual(body, '[]', command)
      statuses.push(Number(status))
    }
    return statuses
  }

  for (const [page, marker, statuses] of [
    ['examples/clinic/README.md', '## Example requests', [200, 200, 200, 200, 200, 200, 201, 200, 400]],
    ['README.md', 'Or send requests', [200, 200, 201]],
  ] as const) {
    test(`answers the requests of ${page}`, { skip: !hasCurl && 'curl is not installed' }, async () =>
      assert.deepEqual(await statusesOf(page, marker), statuses),
    )
  }
})
