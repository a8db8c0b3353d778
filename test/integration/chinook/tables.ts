/** The schema of the Chinook sample database: eleven tables with their columns and types, for SQLite and PostgreSQL. */
interface Table {
  readonly name: string
  readonly key: readonly string[]
  readonly columns: Readonly<Record<string, Column>>
}

interface Column {
  readonly type: string
  readonly nullable: boolean
  /** The table that the foreign key refers to. */
  readonly references?: string
}

const column = (type: string): Column => ({ type, nullable: false })
const text = (length: number): Column => column(`NVARCHAR(${length})`)
const optional = (of: Column): Column => ({ ...of, nullable: true })
const pointer = (references: string): Column => ({ type: 'INTEGER', nullable: false, references })
const integer = column('INTEGER')
const time = column('DATETIME')
const money = column('NUMERIC(10,2)')

const address = {
  Address: optional(text(70)),
  City: optional(text(40)),
  State: optional(text(40)),
  Country: optional(text(40)),
  PostalCode: optional(text(10)),
}
const contact = { ...address, Phone: optional(text(24)), Fax: optional(text(24)) }
const billing = Object.fromEntries(Object.entries(address).map(([name, column]) => [`Billing${name}`, column]))

const table = (name: string, columns: Table['columns']): Table => ({
  name,
  key: [`${name}Id`],
  columns: { [`${name}Id`]: integer, ...columns },
})

/** Referenced tables come before the tables that refer to them. */
export const tables: readonly Table[] = [
  table('Artist', { Name: optional(text(120)) }),
  table('Album', { Title: text(160), ArtistId: pointer('Artist') }),
  table('Genre', { Name: optional(text(120)) }),
  table('MediaType', { Name: optional(text(120)) }),
  table('Track', {
    Name: text(200),
    AlbumId: optional(pointer('Album')),
    MediaTypeId: pointer('MediaType'),
    GenreId: optional(pointer('Genre')),
    Composer: optional(text(220)),
    Milliseconds: integer,
    Bytes: optional(integer),
    UnitPrice: money,
  }),
  table('Playlist', { Name: optional(text(120)) }),
  {
    name: 'PlaylistTrack',
    key: ['PlaylistId', 'TrackId'],
    columns: { PlaylistId: pointer('Playlist'), TrackId: pointer('Track') },
  },
  table('Employee', {
    LastName: text(20),
    FirstName: text(20),
    Title: optional(text(30)),
    ReportsTo: optional(pointer('Employee')),
    BirthDate: optional(time),
    HireDate: optional(time),
    ...contact,
    Email: optional(text(60)),
  }),
  table('Customer', {
    FirstName: text(40),
    LastName: text(20),
    Company: optional(text(80)),
    ...contact,
    Email: text(60),
    SupportRepId: optional(pointer('Employee')),
  }),
  table('Invoice', { CustomerId: pointer('Customer'), InvoiceDate: time, ...billing, Total: money }),
  table('InvoiceLine', {
    InvoiceId: pointer('Invoice'),
    TrackId: pointer('Track'),
    UnitPrice: money,
    Quantity: integer,
  }),
]

/** How one edition of Chinook spells names and types. */
export interface Edition {
  name(name: string): string
  type(type: string): string
}

export const sqliteEdition: Edition = { name: (name) => name, type: (type) => type }

export const postgresEdition: Edition = {
  name: (name) => name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase(),
  type: (type) => type.replace('INTEGER', 'INT').replace('NVARCHAR', 'VARCHAR').replace('DATETIME', 'TIMESTAMP'),
}

/** Creates the tables with their foreign keys and indexes. */
export function schemaOf({ name, type }: Edition): string {
  return tables
    .map((table) => {
      const columns = Object.entries(table.columns)
      const pointers = columns.filter(([, { references }]) => references)
      const lines = [
        ...columns.map(
          ([column, { type: of, nullable }]) => `${name(column)} ${type(of)}${nullable ? '' : ' NOT NULL'}`,
        ),
        `CONSTRAINT ${name(`PK_${table.name}`)} PRIMARY KEY (${table.key.map(name).join(', ')})`,
        ...pointers.map(
          ([column, { references }]) =>
            `FOREIGN KEY (${name(column)}) REFERENCES ${name(references as string)} (${name(`${references}Id`)}) ON DELETE NO ACTION ON UPDATE NO ACTION`,
        ),
      ]
      const indexes = pointers.map(
        ([column]) => `CREATE INDEX ${name(`IFK_${table.name}${column}`)} ON ${name(table.name)} (${name(column)});\n`,
      )
      return `CREATE TABLE ${name(table.name)} (\n  ${lines.join(',\n  ')}\n);\n${indexes.join('')}`
    })
    .join('')
}
