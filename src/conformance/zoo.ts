import type { ModelDefinitions } from '../model/definition.ts'
import type { StandardResult, StandardSchema } from '../model/standard-schema.ts'
import type { Json } from '../protocol/json.ts'

/**
 * The one set of models that every suite uses: each type of attribute, each kind of key, each kind of association,
 * names that databases and JavaScript keep for themselves. A service or a store under test serves exactly these.
 */
export const zoo = {
  /** One attribute of each type, and no associations: what is answered is what is stored. */
  specimen: {
    attributes: {
      label: { type: 'string' },
      weight: { type: 'number' },
      legs: { type: 'number', isInteger: true },
      serial: { type: 'bigint' },
      alive: { type: 'boolean' },
      notes: { type: 'json' },
      bornAt: { type: 'datetime' },
      token: { type: 'string', isUUID: true },
      // Understood by PostgreSQL, and on SQLite a column of any other type holds bytes just as well.
      photo: { type: 'ref', columnType: 'bytea' },
    },
  },
  /** Every rule, defaults, and a word of its own for null. */
  keeper: {
    attributes: {
      name: { type: 'string', required: true, minLength: 2, maxLength: 20 },
      email: { type: 'string', isEmail: true, unique: true },
      age: { type: 'number', isInteger: true, min: 16, max: 99 },
      role: { type: 'string', isIn: ['trainee', 'keeper', 'head'], defaultsTo: 'trainee' },
      nickname: { type: 'string', defaultsTo: 'none', allowNull: true },
      hired: { type: 'boolean', defaultsTo: true },
      home: { type: 'string', isURL: true },
      plate: { type: 'string', regex: /^[A-Z]{2}-\d+$/ },
      lucky: { type: 'number', custom: (value: number) => value % 2 === 1 || 'is not odd' },
      mentor: { model: 'keeper' },
      trainees: { collection: 'keeper', via: 'mentor' },
      animals: { collection: 'animal', via: 'keeper' },
      teams: { collection: 'team', via: 'members' },
      favourites: { collection: 'animal' },
      posts: { collection: 'enclosure', via: 'keeper', through: 'shift' },
    },
  },
  animal: {
    attributes: {
      name: { type: 'string', required: true, maxLength: 80 },
      kind: { type: 'string', isIn: ['bird', 'cat', 'fish'], defaultsTo: 'cat' },
      weight: { type: 'number', min: 0 },
      keeper: { model: 'keeper' },
      enclosure: { model: 'enclosure' },
      feedings: { collection: 'feeding', via: 'animal' },
    },
  },
  /** A key that is text, under another name, in a table and a column under others again. */
  enclosure: {
    tableName: 'zoo "enclosures"',
    primaryKey: 'code',
    attributes: {
      code: { type: 'string', required: true, maxLength: 40, columnName: 'the code' },
      title: { type: 'string', columnName: 'select' },
      animals: { collection: 'animal', via: 'enclosure' },
    },
  },
  /** A key that is a UUID, and an animal it cannot be without. */
  feeding: {
    attributes: {
      id: { type: 'string', isUUID: true },
      grams: { type: 'number', isInteger: true, required: true },
      animal: { model: 'animal', required: true },
    },
  },
  /** A key of 64 bits that the database counts, and a to-one that nobody shares. */
  ticket: {
    attributes: {
      id: { type: 'bigint', autoIncrement: true },
      seat: { type: 'string' },
      holder: { model: 'keeper', unique: true },
    },
  },
  team: {
    attributes: {
      title: { type: 'string', required: true, unique: true },
      members: { collection: 'keeper', via: 'teams' },
      /** Over a table of pairs with names of its own. */
      venues: { collection: 'enclosure', through: { tableName: 'venue', from: 'team no', to: 'enclosure code' } },
    },
  },
  /** Pairs that are a model themselves. */
  shift: {
    attributes: {
      hours: { type: 'number', isInteger: true },
      keeper: { model: 'keeper' },
      post: { model: 'enclosure' },
    },
  },
  /** Times as numbers, for applications that come from the ancestor. */
  reading: {
    attributes: {
      value: { type: 'number' },
      createdAt: { type: 'number', autoCreatedAt: true },
      updatedAt: { type: 'number', autoUpdatedAt: true },
    },
  },
  /** Without times, and with names that mean something to SQL, to JavaScript and to ourselves. */
  order: {
    tableName: 'group',
    attributes: {
      createdAt: false,
      updatedAt: false,
      toString: { type: 'string' },
      hasOwnProperty: { type: 'string', columnName: 'Robert\'); drop table "x";--' },
      where: { type: 'string' },
      limit: { type: 'number' },
      sort: { type: 'string', columnName: '%?$1' },
      by: { type: 'string', columnName: 'order' },
    },
  },
  /** JSON that a schema has a say on. */
  chart: {
    attributes: {
      points: { type: 'json', schema: pointsSchema(), required: true },
    },
  },
} as const satisfies ModelDefinitions

export type Point = { readonly x: number; readonly y: number }

/** A list of points; one that has no `y` lies on the ground, so that the schema is seen to change a value. */
function pointsSchema(): StandardSchema<unknown, readonly Point[]> {
  return { '~standard': { version: 1, vendor: 'keelson-zoo', validate: readPoints } }
}

function readPoints(value: unknown): StandardResult<readonly Point[]> {
  if (!Array.isArray(value)) return { issues: [{ message: 'Expected a list' }] }
  const issues = value.flatMap((point: Json, index) =>
    isPoint(point) ? [] : [{ message: 'Expected a point', path: [index] }],
  )
  return issues.length > 0
    ? { issues }
    : { value: value.map(({ x, y = 0 }: Partial<Point>) => ({ x: x as number, y })) }
}

const isPoint = (value: unknown): value is Partial<Point> =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Partial<Point>).x === 'number' &&
  ['number', 'undefined'].includes(typeof (value as Partial<Point>).y)
