import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService } from 'keelson'
import { schemaDatabases } from '../support/schema-databases.ts'

const [, { missing, open }] = schemaDatabases
const key = { type: 'string', primaryKey: true, required: true } as const

for (const [type, short, long] of [
  // In SQL, the plain names of these types are those of one character, and of one bit.
  ['char(4)', 'ab  ', 'abcd'],
  ['bit(4)', '1010', '1011'],
  // A list of keys is a list of lists.
  ['text[]', '{"a b"}', '{b,"c d"}'],
] as const) {
  test(`records are found and associated by keys of the type ${type}`, { skip: missing ?? false }, async () => {
    await using database = await open()
    await database.execute(`create table place (code ${type} primary key);
      create table visit (id serial primary key, place ${type} references place);
      create table fan (id serial primary key);
      create table liking (fan int references fan, place ${type} references place, primary key (fan, place));
      insert into place values ('${short}'), ('${long}'); insert into visit (place) values ('${short}'), ('${long}'), ('${long}');
      insert into fan default values; insert into liking values (1, '${short}'), (1, '${long}')`)
    await using service = await createService({
      database: database.url,
      attributes: { createdAt: false, updatedAt: false },
      models: {
        place: {
          attributes: {
            code: key,
            visits: { collection: 'visit', via: 'place' },
            fans: { collection: 'fan', via: 'places' },
          },
        },
        visit: { attributes: { place: { model: 'place' } } },
        fan: {
          attributes: {
            places: { collection: 'place', via: 'fans', through: { tableName: 'liking', from: 'fan', to: 'place' } },
          },
        },
      },
    })
    const { fan, place, visit } = service.system.records
    const visits = (await visit.find({ populate: ['place'], sort: 'id' })).data
    assert.deepEqual(
      visits.map(({ place }) => place?.code),
      [short, long, long],
    )
    const places = (await place.find({ populate: ['visits', 'fans'], sort: 'code' })).data
    assert.deepEqual(
      places.map(({ code, visits, fans }) => [code, visits.length, fans.length]),
      [
        [short, 1, 1],
        [long, 2, 1],
      ],
    )
    assert.deepEqual((await fan.findOne(1, { populate: ['places'] }))?.places.map(({ code }) => code).sort(), [
      short,
      long,
    ])
    assert.equal((await visit.find({ where: { place: [short, long] } })).data.length, 3)
    assert.equal((await visit.find({ where: { place: long } })).data.length, 2)
    assert.equal((await place.findOne(long))?.code, long)
  })
}
