import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineSketch, type Sketch } from '../../test/support/sketch.ts'
import { ConfigError } from './config-error.ts'

describe('an association is refused', () => {
  const table = (tableName: string, from: string, to: string) => ({ tableName, from, to })
  const cases: readonly (readonly [sketch: Sketch, problems: readonly string[]])[] = [
    [{ pet: { owner: { model: 'ownr' } } }, ['pet.owner: there is no model "ownr"']],
    [{ pet: { other: { model: 'pets' } } }, ['pet.other: there is no model "pets"; did you mean "pet"?']],
    [{ pet: { owners: { collection: 'ownr' } } }, ['pet.owners: there is no model "ownr"']],
    [
      { owner: { pets: { collection: 'pet', via: 'onwer' } }, pet: { owner: { model: 'owner' } } },
      ['owner.pets: `via` names "pet.onwer", which does not exist; did you mean "owner"?'],
    ],
    [
      { owner: { pets: { collection: 'pet', via: 'owner' } }, pet: { owner: { type: 'number' } } },
      ['owner.pets: `via` names "pet.owner", which is not an association'],
    ],
    [
      { owner: { pets: { collection: 'pet', via: 'toy' } }, pet: { toy: { model: 'toy' } }, toy: {} },
      ['owner.pets: `via` names "pet.toy", which refers to "toy" and not to this model'],
    ],
    [
      { owner: { pets: { collection: 'pet', via: 'toys' } }, pet: { toys: { collection: 'toy' } }, toy: {} },
      ['owner.pets: `via` names "pet.toys", which refers to "toy" and not to this model'],
    ],
    [
      { owner: { pets: { collection: 'pet', via: 'owners' } }, pet: { owners: { collection: 'owner' } } },
      ['owner.pets: `via` names "pet.owners", whose own `via` does not name "pets"'],
    ],
    [
      { user: { friends: { collection: 'user', via: 'friends' } } },
      [
        'user.friends: `via` names the attribute itself: a symmetric association needs two attributes that name each other',
      ],
    ],
    [
      {
        owner: { pets: { collection: 'pet', via: 'owner', through: table('a', 'b', 'c') } },
        pet: { owner: { model: 'owner' } },
      },
      ['owner.pets: `through` is for many-to-many, but "pet.owner" is to-one'],
    ],
    [
      { user: { pets: { collection: 'pet', through: 'ownership', via: 'owner' } }, pet: {} },
      ['user.pets: `through`: there is no model "ownership"'],
    ],
    [
      {
        user: { pets: { collection: 'pet', through: 'ownership' } },
        pet: {},
        ownership: { owner: { model: 'user' }, pet: { model: 'pet' } },
      },
      ['user.pets: `through: "ownership"` needs `via`: the attribute of that model that refers to this one'],
    ],
    [
      { user: { pets: { collection: 'pet', through: 'ownership', via: 'user' } }, pet: {}, ownership: {} },
      ['user.pets: `via` names "ownership.user", which does not exist'],
    ],
    [
      {
        user: { pets: { collection: 'pet', through: 'ownership', via: 'pet' } },
        pet: {},
        ownership: { owner: { model: 'user' }, pet: { model: 'pet' } },
      },
      ['user.pets: `via` names "ownership.pet", which does not refer to this model'],
    ],
    [
      {
        user: { pets: { collection: 'pet', through: 'ownership', via: 'owners' } },
        pet: {},
        ownership: { owners: { collection: 'user' }, pet: { model: 'pet' } },
      },
      ['user.pets: `via` names "ownership.owners", which does not refer to this model'],
    ],
    [
      {
        user: { pets: { collection: 'pet', through: 'ownership', via: 'owner' } },
        pet: {},
        ownership: { owner: { model: 'user' } },
      },
      ['user.pets: "ownership" has no to-one association with "pet"'],
    ],
    [
      {
        user: { pets: { collection: 'pet', through: 'ownership', via: 'owner' } },
        pet: { owners: { collection: 'user', via: 'pets' } },
        ownership: { owner: { model: 'user' }, pet: { model: 'pet' }, friend: { model: 'pet' } },
      },
      ['user.pets: "ownership" has several to-one associations with "pet": "pet", "friend"'],
    ],
    [
      {
        user: { pets: { collection: 'pet', through: 'ownership', via: 'owner' } },
        pet: { owners: { collection: 'user', via: 'pets', through: table('a', 'b', 'c') } },
        ownership: { owner: { model: 'user' }, pet: { model: 'pet' } },
      },
      ['pet.owners: `through` differs from that of "user.pets"'],
    ],
    [
      {
        song: { lists: { collection: 'list', via: 'songs', through: table('pt', 'p', 't') } },
        list: { songs: { collection: 'song', via: 'lists', through: table('pt', 'p', 't') } },
      },
      [
        'song.lists: `through` differs from that of "list.songs": both must name the same table, with `from` and `to` exchanged',
        'list.songs: `through` differs from that of "song.lists": both must name the same table, with `from` and `to` exchanged',
      ],
    ],
    ...(['other', 'pt'] as const).map(
      (name) =>
        [
          {
            song: { lists: { collection: 'list', via: 'songs', through: table(name, 't', 'p') } },
            list: { songs: { collection: 'song', via: 'lists', through: table('pt', 'p', name === 'pt' ? 'x' : 't') } },
          },
          [
            'song.lists: `through` differs from that of "list.songs": both must name the same table, with `from` and `to` exchanged',
            'list.songs: `through` differs from that of "song.lists": both must name the same table, with `from` and `to` exchanged',
          ],
        ] as const,
    ),
    [
      {
        song: {},
        film: {},
        list: {
          songs: { collection: 'song', through: table('pt', 'p', 't') },
          films: { collection: 'film', through: table('pt', 'p', 't') },
        },
      },
      ['list.films: its junction table "pt" has other columns in another association'],
    ],
    [
      { song: {}, list: { songs: { collection: 'song', through: table('pt', 'id', 'ID') } } },
      ['list.songs: both columns of the table "pt" are named "id"'],
    ],
    [
      { song: {}, list: { songs: { collection: 'song', through: table('pt', '__proto__', 't') } } },
      ['list.songs: "__proto__": is not allowed as the name of a column or table'],
    ],
    [
      { song: {}, list: { songs: { collection: 'song', through: table('Song', 'p', 't') } } },
      ['list.songs: its junction table "Song" is the table of the model "song"'],
    ],
    [
      {
        song: { attributes: {}, tableName: 'tracks' },
        list: { songs: { collection: 'song', through: table('song', 'p', 't') } },
      },
      ['list.songs: its junction table has the name of the model "song"'],
    ],
    [
      {
        song: {},
        list: {
          songs: { collection: 'song', through: table('pt', 'p', 't') },
          others: { collection: 'song', through: table('PT', 'p', 'u') },
        },
      },
      ['list.others: its junction table "PT" has other columns in another association'],
    ],
    [
      { user: { likes: { collection: 'pet' } }, pet: {}, pet_likes_pet__user_likes: {} },
      [
        'user.likes: its junction table "pet_likes_pet__user_likes" is the table of the model "pet_likes_pet__user_likes"',
      ],
    ],
    [
      {
        a: { b_c: { collection: 'a_b', via: 'c' } },
        a_b: { c: { collection: 'a', via: 'b_c' } },
      },
      [
        'a.b_c: both columns of the table "a_b_c__a_b_c" are named "a_b_c"',
        'a_b.c: both columns of the table "a_b_c__a_b_c" are named "a_b_c"',
      ],
    ],
  ]
  for (const [sketch, problems] of cases) {
    test(problems[0] as string, () =>
      assert.throws(
        () => defineSketch(sketch),
        (error) => {
          assert.ok(error instanceof ConfigError, String(error))
          assert.deepEqual(error.problems, problems)
          return true
        },
      ),
    )
  }
})
