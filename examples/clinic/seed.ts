import type { Config } from 'keelson'
import type { models } from './models.ts'
import { createRandom } from './random.ts'
import {
  cities,
  firstNames,
  lastNames,
  petNames,
  reasons,
  remarks,
  roomRows,
  specialtyNames,
  speciesRows,
  tagRows,
  treatmentRows,
} from './seed-data.ts'

type Seed = NonNullable<Config<typeof models>['seed']>

/** How many of those that are not listed by name. */
const counts = { vets: 12, owners: 600, referred: 200, pets: 900, puppies: 150, visits: 2400, prescriptions: 2600 }
const certificationsEach = 2
/** Written at once: writes that are under way together share their commits. */
const batchSize = 250

/**
 * Fills a new clinic with some seven thousand records, always the same ones. Each is looked for before it is made, by
 * something of its own that no other has, so a run that was interrupted can simply be run again.
 */
export const seed: Seed = async ({ system }, progress) => {
  const { records } = system
  const random = createRandom(1337)
  const named = [speciesRows, tagRows, specialtyNames, treatmentRows, roomRows].map((rows) => rows.length)
  const total = [...named, ...Object.values(counts), counts.vets * certificationsEach].reduce(
    (sum, count) => sum + count,
  )
  let done = 0

  /** Writes a batch after the other, and answers the records in the order of the rows. */
  async function fill<Row, Found>(
    rows: readonly Row[],
    look: (row: Row) => Promise<{ readonly data: readonly Found[] }>,
    create: (row: Row) => Promise<Found>,
  ): Promise<Found[]> {
    const found: Found[] = []
    for (let start = 0; start < rows.length; start += batchSize) {
      const batch = rows.slice(start, start + batchSize)
      found.push(...(await Promise.all(batch.map(async (row) => (await look(row)).data[0] ?? create(row)))))
      done += batch.length
      progress(done, total)
    }
    return found
  }

  // What is known by name.
  await fill(
    speciesRows.map(([code, label, lifespanYears]) => ({ code, label, lifespanYears })),
    ({ code }) => records.species.find({ where: { code } }),
    (row) => records.species.create(row),
  )
  const tags = await fill(
    tagRows.map(([label, color]) => ({ label, color })),
    ({ label }) => records.tag.find({ where: { label } }),
    (row) => records.tag.create(row),
  )
  const specialties = await fill(
    specialtyNames.map((name) => ({ name })),
    ({ name }) => records.specialty.find({ where: { name } }),
    (row) => records.specialty.create(row),
  )
  const treatments = await fill(
    treatmentRows.map(([name, kind, price]) => ({ name, kind, price })),
    ({ name }) => records.treatment.find({ where: { name } }),
    (row) => records.treatment.create(row),
  )
  const rooms = await fill(
    roomRows.map(([name, floor, kinds]) => ({
      name,
      floor,
      // One-sided: the ids of what the room is fit for.
      equippedFor: treatments.filter(({ kind }) => kinds.some((fit) => fit === kind)).map(({ id }) => id),
    })),
    ({ name }) => records.room.find({ where: { name } }),
    (row) => records.room.create(row),
  )

  // People. An address has a number in it, so nobody has the same as another.
  const person = (number: number) => {
    const name = `${random.pick(firstNames)} ${random.pick(lastNames)}`
    return { name, email: `${name.toLowerCase().replace(' ', '.')}${number}@example.com` }
  }
  const vets = await fill(
    Array.from({ length: counts.vets }, (_, index) => {
      const { name, email } = person(index)
      return { name: `Dr. ${name}`, email: email.replace('@', '@clinic.'), hiredAt: day(random.between(-3000, -200)) }
    }),
    ({ email }) => records.vet.find({ where: { email } }),
    (row) => records.vet.create(row),
  )
  await fill(
    vets.flatMap((vet) => {
      const first = random.between(0, specialties.length - 1)
      return Array.from({ length: certificationsEach }, (_, index) => ({
        vet: vet.id,
        specialty: specialties[(first + index * 3) % specialties.length]?.id ?? 0,
        level: random.pick(['resident', 'diplomate'] as const),
        since: day(random.between(-2500, -100)),
      }))
    }),
    ({ vet, specialty }) => records.certification.find({ where: { vet, specialty } }),
    (row) => records.certification.create(row),
  )
  const ownerRow = (number: number) => ({
    ...person(number),
    phone: `+49 ${random.digits(3)} ${random.digits(6)}`,
    city: random.pick(cities),
    newsletter: random.chance(0.3),
  })
  const firstOwners = await fill(
    Array.from({ length: counts.owners }, (_, index) => ownerRow(1000 + index)),
    ({ email }) => records.owner.find({ where: { email } }),
    (row) => records.owner.create(row),
  )
  const laterOwners = await fill(
    Array.from({ length: counts.referred }, (_, index) => ({
      ...ownerRow(5000 + index),
      referredBy: random.pick(firstOwners).id,
    })),
    ({ email }) => records.owner.find({ where: { email } }),
    (row) => records.owner.create(row),
  )
  const owners = [...firstOwners, ...laterOwners]

  // Animals: first the parents, then the young.
  const petRow = (kind: (typeof speciesRows)[number], ageInDays: number) => {
    const [code, , , lightest, heaviest] = kind
    const weight = lightest + random.next() * (heaviest - lightest)
    return {
      name: random.pick(petNames),
      sex: random.pick(['female', 'male'] as const),
      bornAt: day(-ageInDays),
      weight: Math.round(weight * 10) / 10,
      chip: `276${random.digits(12)}`,
      neutered: random.chance(0.5),
      species: code,
      tags: random.chance(0.4) ? random.some(tags, 2).map(({ id }) => id) : [],
    }
  }
  const parents = await fill(
    Array.from({ length: counts.pets }, () => {
      const kind = random.pick(bySpecies)
      const owner = random.chance(0.95) ? random.pick(owners).id : null
      return { ...petRow(kind, random.between(400, Math.min(kind[2] * 300, 6000))), owner }
    }),
    ({ chip }) => records.pet.find({ where: { chip } }),
    (row) => records.pet.create(row),
  )
  const mothers = parents.filter(({ sex, species }) => sex === 'female' && (species === 'dog' || species === 'cat'))
  const young = await fill(
    Array.from({ length: counts.puppies }, () => {
      const mother = random.pick(mothers)
      const kind = speciesRows.find(([code]) => code === mother.species) ?? speciesRows[0]
      return { ...petRow(kind, random.between(30, 390)), owner: random.pick(owners).id, mother: mother.id }
    }),
    ({ chip }) => records.pet.find({ where: { chip } }),
    (row) => records.pet.create(row),
  )
  const pets = [...parents, ...young]

  // What happens in the clinic.
  const visits = await fill(
    Array.from({ length: counts.visits }, () => {
      const startsOn = random.between(-900, 60)
      const status = startsOn > 0 ? 'booked' : random.chance(0.04) ? 'missed' : 'done'
      return {
        id: random.uuid(),
        pet: random.pick(pets).id,
        vet: random.pick(vets).id,
        room: random.pick(rooms).id,
        startsAt: day(startsOn, random.between(32, 70) * 15),
        status,
        reason: random.pick(reasons),
        findings:
          status === 'done'
            ? {
                temperature: random.between(375, 395) / 10,
                heartRate: random.between(60, 180),
                notes: random.some(remarks, random.between(1, 3)),
              }
            : null,
      } as const
    }),
    ({ id }) => records.visit.find({ where: { id } }),
    (row) => records.visit.create(row),
  )
  const attended = visits.filter(({ status }) => status === 'done')
  const pairs = new Set<string>()
  await fill(
    Array.from({ length: counts.prescriptions }, () => {
      for (;;) {
        const [visit, number] = [random.pick(attended).id, random.between(0, treatmentRows.length - 1)]
        if (pairs.has(`${visit} ${number}`)) continue
        pairs.add(`${visit} ${number}`)
        const [, , , unit, dose, days] = treatmentRows[number] as (typeof treatmentRows)[number]
        return { visit, treatment: treatments[number]?.id ?? 0, dose, unit, days }
      }
    }),
    ({ visit, treatment }) => records.prescription.find({ where: { visit, treatment } }),
    (row) => records.prescription.create(row),
  )
}

/** The day the clinic counts from. A clinic that grows older would not be the same for everybody. */
const today = Date.UTC(2026, 2, 2)
const dayMs = 86_400_000

const day = (days: number, minutes = 0): string => new Date(today + days * dayMs + minutes * 60_000).toISOString()

/** Each species as often as it comes to a clinic. */
const bySpecies = speciesRows.flatMap((row) => Array.from({ length: row[5] }, () => row))
