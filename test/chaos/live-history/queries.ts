import type { JsonObject } from '../../../src/protocol/json.ts'
import type { Random } from '../../support/random.ts'
import { heavy } from '../history/models.ts'

/** A random live query on the models of the history: local ones, windows, associations, embedded records, counts. */
export function randomQuery(random: Random): JsonObject {
  const model = random.pick(['owner', 'pet', 'pet', 'pet', 'tag'])
  const query: Record<string, unknown> = { model }
  if (random.chance(0.7)) query.where = whereOf(model, random, 2)
  if (random.chance(0.6)) query.sort = sortOf(model, random)
  query.limit = random.chance(0.5) ? 1000 : 1 + random.below(8)
  if (random.chance(0.15)) query.skip = random.below(4)
  if (random.chance(0.3)) query.populate = populateOf(model, random)
  if (random.chance(0.2)) query.count = true
  if (random.chance(0.2)) query.select = ['mark']
  return query as JsonObject
}

function whereOf(model: string, random: Random, depth: number): unknown {
  const own: unknown[] = [{ mark: { endsWith: String(random.below(10)) } }, { id: { '>': random.below(20) } }]
  if (model === 'pet')
    own.push(
      { weight: { '>=': heavy } },
      { weight: random.below(100) },
      { weight: { '<': random.below(100) } },
      { owner: null },
    )
  if (depth === 0) return random.pick(own)
  const related: Readonly<Record<string, readonly string[]>> = {
    owner: ['pets'],
    pet: ['owner', 'tags'],
    tag: ['pets'],
  }
  const targets: Readonly<Record<string, string>> = { pets: 'pet', owner: 'owner', tags: 'tag' }
  switch (random.below(6)) {
    case 0:
      return { or: [whereOf(model, random, depth - 1), whereOf(model, random, depth - 1)] }
    case 1:
      return { not: whereOf(model, random, depth - 1) }
    case 2:
    case 3: {
      const association = random.pick(related[model] as readonly string[])
      return { [association]: whereOf(targets[association] as string, random, depth - 1) }
    }
    default:
      return random.pick(own)
  }
}

function sortOf(model: string, random: Random): string {
  const names = model === 'pet' ? ['weight', 'mark', 'owner.mark', 'id'] : ['mark', 'id']
  return `${random.pick(names)} ${random.pick(['ASC', 'DESC'])}`
}

function populateOf(model: string, random: Random): unknown {
  switch (model) {
    case 'owner':
      return random.pick<unknown>([
        ['pets'],
        { pets: { where: { weight: { '>=': heavy } }, sort: 'weight DESC', limit: 2 } },
      ])
    case 'pet':
      return random.pick<unknown>([['owner'], ['owner', 'tags'], { tags: { limit: 1, sort: 'mark DESC' } }])
    default:
      return random.pick<unknown>([['pets'], { pets: { limit: 3, populate: ['owner'] } }])
  }
}
