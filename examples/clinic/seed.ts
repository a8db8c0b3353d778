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

/** The number of records of the models that are not listed by name. */
const counts = { vets: 12, owners: 600, referred: 200, pets: 900, puppies: 150, visits: 2400, prescriptions: 2600 }
const certificationsEach = 2
/** Visits on the day of the seed, for the live pages. */
const visitsToday = 10
/** The first pets belong to the first owner, and some of the visits of the day to them or the first vet: the demo users. */
const demoPets = 3
const petOfDemoVisit = (index: number) => (index < visitsToday && index % 3 === 0 ? (index / 3) % demoPets : undefined)
const isOfDemoVet = (index: number) => index < visitsToday && index % 2 === 0
/** Of the lost pets, two have owners in Bergen, for the requests of the README. */
const lostInBergen = [4, 5]
const isLost = (index: number) => lostInBergen.includes(index) || index % 225 === 99
/** The number of records of a transaction. */
const batchSize = 250

/**
 * Creates about seven thousand records, the same ones on every run. Each record is searched by a unique attribute before
 * it is created, so an interrupted run can be repeated.
 */
export const seed: Seed = async ({ system }, progress) => {
  const { records } = system
  const random = createRandom(1337)
  const named = [speciesRows, tagRows, specialtyNames, treatmentRows, roomRows].map((rows) => rows.length)
  const total = [...named, ...Object.values(counts), counts.vets * certificationsEach].reduce(
    (sum, count) => sum + count,
  )
  let done = 0

  /**
   * Creates the missing records of `rows` batch by batch, in their order, so that their keys are the same on every run as well.
   * Returns the records in the order of the rows.
   */
  async function fill<Row, Found>(
    rows: readonly Row[],
    search: (row: Row) => Promise<{ readonly data: readonly Found[] }>,
    createMany: (rows: Row[]) => Promise<readonly Found[]>,
  ): Promise<Found[]> {
    const found: Found[] = []
    for (let start = 0; start < rows.length; start += batchSize) {
      const batch = rows.slice(start, start + batchSize)
      const stored = await Promise.all(batch.map(async (row) => (await search(row)).data[0]))
      const missing = batch.filter((_, index) => stored[index] === undefined)
      const created = missing.length > 0 ? (await createMany(missing)).values() : [].values()
      found.push(...stored.map((record) => record ?? (created.next().value as Found)))
      done += batch.length
      progress(done, total)
    }
    return found
  }

  // Records listed by name.
  await fill(
    speciesRows.map(([code, label, lifespanYears]) => ({ code, label, lifespanYears })),
    ({ code }) => records.species.find({ where: { code } }),
    (rows) => records.species.createMany(rows),
  )
  const tags = await fill(
    tagRows.map(([label, color]) => ({ label, color })),
    ({ label }) => records.tag.find({ where: { label } }),
    (rows) => records.tag.createMany(rows),
  )
  const specialties = await fill(
    specialtyNames.map((name) => ({ name })),
    ({ name }) => records.specialty.find({ where: { name } }),
    (rows) => records.specialty.createMany(rows),
  )
  const treatments = await fill(
    treatmentRows.map(([name, kind, price]) => ({ name, kind, price })),
    ({ name }) => records.treatment.find({ where: { name } }),
    (rows) => records.treatment.createMany(rows),
  )
  const rooms = await fill(
    roomRows.map(([name, floor, kinds]) => ({
      name,
      floor,
      // Many-to-many from one side: the ids of the treatments.
      equippedFor: treatments.filter(({ kind }) => kinds.some((suitable) => suitable === kind)).map(({ id }) => id),
    })),
    ({ name }) => records.room.find({ where: { name } }),
    (rows) => records.room.createMany(rows),
  )

  // Persons. The number makes an e-mail address unique.
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
    (rows) => records.vet.createMany(rows),
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
    (rows) => records.certification.createMany(rows),
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
    (rows) => records.owner.createMany(rows),
  )
  const laterOwners = await fill(
    Array.from({ length: counts.referred }, (_, index) => ({
      ...ownerRow(5000 + index),
      referredBy: random.pick(firstOwners).id,
    })),
    ({ email }) => records.owner.find({ where: { email } }),
    (rows) => records.owner.createMany(rows),
  )
  const owners = [...firstOwners, ...laterOwners]

  // Pets: first the parents, then their puppies.
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
  const ownersInBergen = owners.filter(({ city }) => city === 'Bergen')
  const ownerOf = (index: number): number | null => {
    if (index < demoPets) return owners[0]?.id ?? null
    if (lostInBergen.includes(index)) return random.pick(ownersInBergen).id
    return random.chance(0.95) ? random.pick(owners).id : null
  }
  const parents = await fill(
    Array.from({ length: counts.pets }, (_, index) => {
      const kind = random.pick(bySpecies)
      const owner = ownerOf(index)
      const lost = isLost(index)
      return { ...petRow(kind, random.between(400, Math.min(kind[2] * 300, 6000))), owner, lost }
    }),
    ({ chip }) => records.pet.find({ where: { chip } }),
    (rows) => records.pet.createMany(rows),
  )
  const mothers = parents.filter(({ sex, species }) => sex === 'female' && (species === 'dog' || species === 'cat'))
  const young = await fill(
    Array.from({ length: counts.puppies }, () => {
      const mother = random.pick(mothers)
      const kind = speciesRows.find(([code]) => code === mother.species) ?? speciesRows[0]
      return { ...petRow(kind, random.between(30, 390)), owner: random.pick(owners).id, mother: mother.id }
    }),
    ({ chip }) => records.pet.find({ where: { chip } }),
    (rows) => records.pet.createMany(rows),
  )
  const pets = [...parents, ...young]

  // Visits and prescriptions.
  const visits = await fill(
    Array.from({ length: counts.visits }, (_, index) => {
      const demoPet = petOfDemoVisit(index)
      const startsOn = index < visitsToday ? 0 : random.between(-900, 60)
      const status = startsOn >= 0 ? 'booked' : random.chance(0.04) ? 'missed' : 'done'
      return {
        id: random.uuid(),
        pet: (demoPet === undefined ? random.pick(pets) : pets[demoPet])?.id ?? 0,
        vet: (isOfDemoVet(index) ? vets[0] : random.pick(vets))?.id ?? 0,
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
    (rows) => records.visit.createMany(rows),
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
    (rows) => records.prescription.createMany(rows),
  )
}

/** The records are the same on every run, but their dates are relative to the day of the seed. */
const today = new Date()

/** A time of a day, in the time zone of the process. */
const day = (days: number, minutes = 0): string =>
  new Date(today.getFullYear(), today.getMonth(), today.getDate() + days, 0, minutes).toISOString()

/** Each species in proportion to its frequency. */
const bySpecies = speciesRows.flatMap((row) => Array.from({ length: row[5] }, () => row))
