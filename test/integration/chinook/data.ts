import { type Edition, tables } from './tables.ts'

/** A small invented data set: the rows of each table, each an array in the order of the table's columns. */
type Value = string | number | null
type Rows = Readonly<Record<string, readonly (readonly Value[])[]>>

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)
const from = (items: readonly string[], number: number): string => items[number % items.length] as string

const adjectives = ['Quiet', 'Broken', 'Northern', 'Électrique', 'Paper', 'Sunday']
const nouns = ['Harbour', 'Engines', 'Lanterns', 'Óperas', 'Rivers', 'Sparrows', "Tailor's Dummies"]
const cities = ['Oslo', 'Porto', 'Graz', 'Łódź', 'Quito']
const day = (number: number): string => `20${20 + (number % 5)}-0${1 + (number % 9)}-1${number % 10}`

const price = (track: number): number => (track % 7 === 0 ? 1.99 : 0.99)
/** The tracks of an invoice. */
const bought = (invoice: number): readonly number[] =>
  upTo(1 + (invoice % 4)).map((line) => ((invoice * 3 + line * 5) % 40) + 1)
const cents = (amount: number): number => Math.round(amount * 100) / 100

const place = (number: number): readonly Value[] => [
  `${number} Long Street`,
  from(cities, number),
  null,
  'Nowhere',
  `00${number}`,
]

const rows: Rows = {
  Artist: upTo(6).map((id) => [id, `${from(adjectives, id)} ${from(nouns, id)}`]),
  Album: upTo(10).map((id) => [id, `${from(nouns, id * 3)}, Vol. ${id}`, (id % 6) + 1]),
  Genre: upTo(3).map((id) => [id, from(['Folk', 'Noise', 'Waltz'], id)]),
  MediaType: upTo(2).map((id) => [id, `Format ${id}`]),
  Track: upTo(40).map((id) => [
    id,
    `${from(adjectives, id * 5)} ${from(nouns, id)} No. ${id}`,
    id % 10 === 0 ? null : (id % 10) + 1,
    (id % 2) + 1,
    id % 8 === 0 ? null : (id % 3) + 1,
    id % 3 === 0 ? null : `${from(nouns, id)} & Sons`,
    120_000 + id * 977,
    id % 9 === 0 ? null : 3_000_000 + id * 4001,
    price(id),
  ]),
  Playlist: upTo(4).map((id) => [id, id === 4 ? null : `List ${id}`]),
  PlaylistTrack: upTo(4).flatMap((list) =>
    upTo(40)
      .filter((track) => (track + list) % (list + 2) === 0)
      .map((track) => [list, track]),
  ),
  Employee: upTo(5).map((id) => [
    id,
    from(nouns, id),
    from(adjectives, id),
    id === 1 ? 'Manager' : 'Clerk',
    id === 1 ? null : Math.ceil(id / 3),
    `19${60 + id}-02-28 00:00:00`,
    id === 5 ? null : `20${10 + id}-12-31 23:59:59`,
    ...place(id),
    `+00 ${id}`,
    null,
    `clerk${id}@shop.example`,
  ]),
  Customer: upTo(8).map((id) => [
    id,
    from(adjectives, id + 1),
    from(nouns, id + 2),
    id % 3 === 0 ? 'Company & Co.' : null,
    ...place(id + 5),
    null,
    null,
    `customer${id}@mail.example`,
    id % 4 === 0 ? null : (id % 4) + 2,
  ]),
  Invoice: upTo(20).map((id) => [
    id,
    (id % 8) + 1,
    `${day(id)} 00:00:00`,
    ...place(id),
    cents(bought(id).reduce((sum, track) => sum + price(track), 0)),
  ]),
  InvoiceLine: upTo(20)
    .flatMap((invoice) => bought(invoice).map((track) => [invoice, track, price(track), 1]))
    .map((line, index) => [index + 1, ...line]),
}

const literal = (value: Value): string => {
  if (value === null) return 'NULL'
  return typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`
}

/** Inserts the rows. */
export const contentOf = ({ name }: Edition): string =>
  tables
    .map((table) => {
      const columns = Object.keys(table.columns).map(name).join(', ')
      const values = (rows[table.name] ?? []).map((row) => `(${row.map(literal).join(', ')})`)
      return `INSERT INTO ${name(table.name)} (${columns}) VALUES\n${values.join(',\n')};\n`
    })
    .join('')
