const petAttributes = {
  name: { type: 'string', required: true, maxLength: 80 },
  kind: {
    type: 'string',
    required: true,
    isIn: ['cat', 'dog', 'bird', 'fish', 'horse', 'rabbit', 'snake', 'turtle'],
  },
  breed: { type: 'string', maxLength: 80 },
  note: { type: 'string', maxLength: 500 },
  age: { type: 'number', isInteger: true, required: true, min: 0 },
  weight: { type: 'number', required: true },
  tags: { type: 'json' },
  details: { type: 'json' },
  vaccinated: { type: 'boolean', defaultsTo: false },
} as const

/**
 * A pet has whole numbers, a float, texts, two JSON columns, a boolean and two times, and is associated with nothing: what
 * one table costs. A patient is a pet with an owner and visits: what associations cost on top.
 */
export const models = {
  pet: { attributes: petAttributes },
  patient: {
    attributes: { ...petAttributes, owner: { model: 'owner' }, visits: { collection: 'visit', via: 'patient' } },
  },
  owner: {
    attributes: {
      name: { type: 'string', required: true, maxLength: 80 },
      email: { type: 'string', maxLength: 80 },
      city: { type: 'string', maxLength: 80 },
      patients: { collection: 'patient', via: 'owner' },
    },
  },
  visit: {
    attributes: {
      reason: { type: 'string', maxLength: 80 },
      note: { type: 'string', maxLength: 500 },
      cost: { type: 'number' },
      patient: { model: 'patient' },
    },
  },
} as const

export const kinds = petAttributes.kind.isIn
export const cities = [
  ...['Oslo', 'Bergen', 'Lima', 'Turin', 'Ghent', 'Porto', 'Split', 'Malmö', 'Kyoto', 'Quito'],
  ...['Accra', 'Dakar', 'Tunis', 'Basel', 'Linz', 'Cork', 'Leeds', 'Tampa', 'Salem', 'Perth'],
] as const

/** A pet as a client sends it. */
export interface Pet {
  readonly name: string
  readonly kind: string
  readonly breed: string | null
  readonly note: string
  readonly age: number
  readonly weight: number
  readonly tags: readonly string[]
  readonly details: { readonly chip: string; readonly visits: number; readonly indoor: boolean }
  readonly vaccinated: boolean
}

export type Random = () => number

/** Numbers from 0 to 1, the same ones for the same seed on every machine (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const syllables = ['ba', 'ri', 'mo', 'ka', 'lu', 'fen', 'to', 'nis', 'el', 'gra', 'vi', 'sho']
const words = [
  'calm',
  'likes',
  'the',
  'window',
  'after',
  'dinner',
  'sleeps',
  'often',
  'under',
  'warm',
  'blankets',
  'and',
]
const tagWords = ['small', 'friendly', 'rescued', 'trained', 'senior', 'loud', 'fluffy']

export const pick = <T>(list: readonly T[], random: Random): T => list[Math.floor(random() * list.length)] as T

const joined = (list: readonly string[], count: number, separator: string, random: Random): string =>
  Array.from({ length: count }, () => pick(list, random)).join(separator)

/** A record is about 350 bytes of JSON, so that a list of 30 is about 10 kB. */
export function randomPet(random: Random): Pet {
  return {
    name: joined(syllables, 3, '', random),
    kind: pick(kinds, random),
    breed: random() < 0.1 ? null : joined(syllables, 4, '', random),
    note: joined(words, 9, ' ', random),
    age: Math.floor(random() * 20),
    weight: randomWeight(random),
    tags: [pick(tagWords, random), pick(tagWords, random)],
    details: {
      chip: Math.floor(random() * 1e12).toString(36),
      visits: Math.floor(random() * 40),
      indoor: random() < 0.5,
    },
    vaccinated: random() < 0.7,
  }
}

export const randomWeight = (random: Random): number => Math.round(random() * 4000) / 100

export const recordCount = 10_000
const ownerCount = 1_000
/** From none to six for each patient, so that there are three on average. */
const mostVisits = 6

type Times = { readonly createdAt: string; readonly updatedAt: string }

/** The initial data, referenced records first; keys count from 1. */
export const storedTables: readonly { readonly table: string; readonly rows: () => Iterable<object> }[] = [
  { table: 'pet', rows: storedPets },
  { table: 'owner', rows: storedOwners },
  { table: 'patient', rows: storedPatients },
  { table: 'visit', rows: storedVisits },
]

function* storedPets(): Generator<Pet & Times> {
  const random = randomFrom(1)
  for (let index = 0; index < recordCount; index++) {
    const times = randomTimes(random)
    yield { ...randomPet(random), ...times }
  }
}

function* storedOwners(): Generator<object> {
  const random = randomFrom(2)
  for (let index = 0; index < ownerCount; index++) {
    const name = joined(syllables, 4, '', random)
    yield { name, email: `${name}${index}@example.com`, city: pick(cities, random), ...randomTimes(random) }
  }
}

/** The same animals as the pets; one of twenty has no owner. */
function* storedPatients(): Generator<object> {
  const random = randomFrom(3)
  for (const pet of storedPets()) {
    yield { ...pet, owner: random() < 0.05 ? null : 1 + Math.floor(random() * ownerCount) }
  }
}

function* storedVisits(): Generator<object> {
  const random = randomFrom(4)
  for (let patient = 1; patient <= recordCount; patient++) {
    const count = Math.floor(random() * (mostVisits + 1))
    for (let index = 0; index < count; index++) {
      const [reason, note] = [joined(words, 2, ' ', random), joined(words, 6, ' ', random)]
      yield { reason, note, cost: randomWeight(random) * 5, patient, ...randomTimes(random) }
    }
  }
}

const start = Date.parse('2025-01-01T00:00:00.000Z')

function randomTimes(random: Random): Times {
  const createdAt = new Date(start + Math.floor(random() * 3e10)).toISOString()
  const updatedAt = new Date(Date.parse(createdAt) + Math.floor(random() * 1e9)).toISOString()
  return { createdAt, updatedAt }
}
