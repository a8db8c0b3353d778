import type { ModelDefinitions } from '../model/definition.ts'
import type { StandardResult, StandardSchema } from '../model/standard-schema.ts'
import type { Json } from '../protocol/json.ts'

/**
 * The one set of models that every suite uses: each type of attribute, key and association, and
 * names that are reserved in SQL and JavaScript. A service or store under test serves exactly these models.
 */
export const zoo = {
  /** One attribute of each type, and no associations: an answer equals the stored record. */
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
      // A PostgreSQL type; on SQLite a column of any declared type can hold bytes.
      photo: { type: 'ref', columnType: 'bytea' },
    },
  },
  /** Every rule, defaults, and a custom null value. */
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
      pin: { type: 'string', hidden: true, maxLength: 20 },
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
  /** A string key under another name, with different table and column names. */
  enclosure: {
    tableName: 'zoo "enclosures"',
    primaryKey: 'code',
    attributes: {
      code: { type: 'string', required: true, maxLength: 40, columnName: 'the code' },
      title: { type: 'string', columnName: 'select' },
      animals: { collection: 'animal', via: 'enclosure' },
    },
  },
  /** A UUID key and a required to-one. */
  feeding: {
    attributes: {
      id: { type: 'string', isUUID: true },
      grams: { type: 'number', isInteger: true, required: true },
      animal: { model: 'animal', required: true },
    },
  },
  /** A 64-bit auto-increment key and a unique to-one. */
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
      /** With a junction table and columns of its own names. */
      venues: { collection: 'enclosure', through: { tableName: 'venue', from: 'team no', to: 'enclosure code' } },
    },
  },
  /** A junction that is a declared model. */
  shift: {
    attributes: {
      hours: { type: 'number', isInteger: true },
      keeper: { model: 'keeper' },
      post: { model: 'enclosure' },
    },
  },
  /** Declared indexes: for sorting, unique over two attributes, and unique among some records. */
  visit: {
    attributes: {
      day: { type: 'string', required: true, columnName: 'the day' },
      slot: { type: 'number', isInteger: true },
      state: { type: 'string', isIn: ['open', 'done'], index: true },
      guide: { model: 'keeper' },
    },
    indexes: [
      ['state', 'createdAt DESC'],
      { attributes: ['day', 'slot'], unique: true },
      { attributes: ['guide'], unique: true, where: { state: 'open' } },
    ],
  },
  /** Timestamps as numbers, for applications that migrate from Sails. */
  reading: {
    attributes: {
      value: { type: 'number' },
      createdAt: { type: 'number', autoCreatedAt: true },
      updatedAt: { type: 'number', autoUpdatedAt: true },
    },
  },
  /** Without timestamps, and with names that have a meaning in SQL, JavaScript or this interface. */
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
  /** A JSON attribute with a schema. */
  chart: {
    attributes: {
      points: { type: 'json', schema: pointsSchema(), required: true },
    },
  },
} as const satisfies ModelDefinitions

export type Point = { readonly x: number; readonly y: number }

/** A list of points. A missing `y` becomes 0, so that a transformation by the schema is visible. */
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
