import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { defineSketch, type Sketch } from '../../test/support/sketch.ts'
import { defineModels } from './define.ts'
import type { Association, Model, Models } from './model.ts'

function find(models: Models, path: string): Association {
  const [model, name] = path.split('.') as [string, string]
  const association = models.get(model)?.associations.get(name)
  assert.ok(association, `there is no ${path}`)
  return association
}

/** 'user.groups -> group over group_members__user_groups (user_groups, group_members)' */
function show(models: Models, path: string): string {
  const it = find(models, path)
  if (it.kind === 'belongsTo') return `${it.target.name} by ${it.foreignKey.name}`
  if (it.kind === 'hasMany') return `${it.target.name}s by ${it.via.name}`
  return `${it.target.name}s over ${it.junction.name} (${it.near.name}, ${it.far.name})`
}

const junctionsOf = (models: Models): Model[] => [...models.values()].filter(({ isJunction }) => isJunction)

describe('to-one', () => {
  const models = defineSketch({
    owner: { attributes: { id: { type: 'string', isUUID: true, columnType: 'char(36)' } } },
    pet: { owner: { model: 'Owner', columnName: 'owner_id', required: true, unique: true }, friend: { model: 'pet' } },
    toy: { attributes: { id: { type: 'number', autoIncrement: true, columnType: 'serial' }, of: { model: 'toy' } } },
  })
  const pet = models.get('pet')!

  test('is an attribute of the type of the other model’s key', () => {
    const owner = pet.attributes.get('owner')!
    assert.equal(owner.references, models.get('owner'))
    assert.equal(owner.type.name, 'uuid')
    assert.equal(owner.columnType, 'char(36)')
    assert.equal(owner.column, 'owner_id')
    assert.deepEqual(
      [owner.required, owner.nullable, owner.unique, owner.generated, owner.isPrimaryKey],
      [true, false, true, false, false],
    )
  })

  test('is an association over this attribute', () => {
    assert.equal(show(models, 'pet.owner'), 'owner by owner')
    const association = find(models, 'pet.owner')
    assert.ok(association.kind === 'belongsTo')
    assert.equal(association.foreignKey, pet.attributes.get('owner'))
    assert.equal(association.target, models.get('owner'))
  })

  test('may refer to its own model, without its autoincrement', () => {
    const of = models.get('toy')?.attributes.get('of')
    assert.equal(of?.references, models.get('toy'))
    assert.deepEqual([of?.type.name, of?.columnType, of?.autoIncrement], ['integer', undefined, false])
    assert.equal(pet.attributes.get('friend')?.references, pet)
  })

  test('keeps its place among the attributes', () => {
    assert.deepEqual([...pet.attributes.keys()], ['id', 'owner', 'friend', 'createdAt', 'updatedAt'])
  })
})

describe('to-many', () => {
  test('by a foreign key on the other side', () => {
    const models = defineSketch({
      owner: { pets: { collection: 'pet', via: 'owner' } },
      pet: { owner: { model: 'owner' } },
    })
    assert.equal(show(models, 'owner.pets'), 'pets by owner')
    const pets = find(models, 'owner.pets')
    assert.ok(pets.kind === 'hasMany')
    assert.equal(pets.via, models.get('pet')?.attributes.get('owner'))
    assert.equal(models.get('owner')?.attributes.has('pets'), false)
    assert.deepEqual(junctionsOf(models), [])
  })

  test('of its own model, by a foreign key', () => {
    const models = defineSketch({
      page: { parent: { model: 'page' }, children: { collection: 'page', via: 'parent' } },
    })
    assert.equal(show(models, 'page.children'), 'pages by parent')
  })

  type Case = readonly [title: string, sketch: Sketch, shown: { readonly [path: string]: string }, tables: string[]]
  const cases: readonly Case[] = [
    [
      'and many on the other side',
      {
        user: { groups: { collection: 'group', via: 'members' } },
        group: { members: { collection: 'user', via: 'groups' } },
      },
      {
        'user.groups': 'groups over group_members__user_groups (user_groups, group_members)',
        'group.members': 'users over group_members__user_groups (group_members, user_groups)',
      },
      ['group_members__user_groups (group_members -> group, user_groups -> user)'],
    ],
    [
      'without an attribute on the other side',
      { user: { likes: { collection: 'pet' } }, pet: {} },
      { 'user.likes': 'pets over pet_likes_pet__user_likes (user_likes, pet_likes_pet)' },
      ['pet_likes_pet__user_likes (pet_likes_pet -> pet, user_likes -> user)'],
    ],
    [
      'with two tables between two models',
      {
        user: { likes: { collection: 'pet' }, walks: { collection: 'pet', via: 'walkers' } },
        pet: { walkers: { collection: 'user', via: 'walks' } },
      },
      {
        'user.likes': 'pets over pet_likes_pet__user_likes (user_likes, pet_likes_pet)',
        'user.walks': 'pets over pet_walkers__user_walks (user_walks, pet_walkers)',
        'pet.walkers': 'users over pet_walkers__user_walks (pet_walkers, user_walks)',
      },
      [
        'pet_likes_pet__user_likes (pet_likes_pet -> pet, user_likes -> user)',
        'pet_walkers__user_walks (pet_walkers -> pet, user_walks -> user)',
      ],
    ],
    [
      'of its own model, in both directions',
      {
        user: {
          follows: { collection: 'user', via: 'followers' },
          followers: { collection: 'user', via: 'follows' },
        },
      },
      {
        'user.follows': 'users over user_followers__user_follows (user_follows, user_followers)',
        'user.followers': 'users over user_followers__user_follows (user_followers, user_follows)',
      },
      ['user_followers__user_follows (user_followers -> user, user_follows -> user)'],
    ],
    [
      'of its own model, in one direction',
      { user: { likes: { collection: 'user' } } },
      { 'user.likes': 'users over user_likes__user_likes_user (user_likes, user_likes_user)' },
      ['user_likes__user_likes_user (user_likes -> user, user_likes_user -> user)'],
    ],
    [
      'of models with upper-case names, with the names of Waterline',
      {
        User: { myGroups: { collection: 'group', via: 'Members' } },
        Group: { Members: { collection: 'USER', via: 'myGroups' } },
      },
      {
        'User.myGroups': 'Groups over group_Members__user_myGroups (user_myGroups, group_Members)',
        'Group.Members': 'Users over group_Members__user_myGroups (group_Members, user_myGroups)',
      },
      ['group_Members__user_myGroups (group_Members -> Group, user_myGroups -> User)'],
    ],
    [
      'through a model, declared on both sides',
      {
        user: { pets: { collection: 'pet', through: 'ownership', via: 'owner' } },
        pet: { owners: { collection: 'user', through: 'ownership', via: 'pet' } },
        ownership: { owner: { model: 'user' }, pet: { model: 'pet' }, since: { type: 'datetime' } },
      },
      { 'user.pets': 'pets over ownership (owner, pet)', 'pet.owners': 'users over ownership (pet, owner)' },
      [],
    ],
    [
      'through a model, declared on one side',
      {
        pet: { owners: { collection: 'user', via: 'pets' } },
        user: { pets: { collection: 'pet', through: 'ownership', via: 'owner' } },
        ownership: { owner: { model: 'user' }, pet: { model: 'pet' } },
      },
      { 'user.pets': 'pets over ownership (owner, pet)', 'pet.owners': 'users over ownership (pet, owner)' },
      [],
    ],
    [
      'through a model, of its own model',
      {
        user: {
          follows: { collection: 'user', through: 'follow', via: 'from' },
          followers: { collection: 'user', through: 'follow', via: 'to' },
        },
        follow: { from: { model: 'user' }, to: { model: 'user' } },
      },
      { 'user.follows': 'users over follow (from, to)', 'user.followers': 'users over follow (to, from)' },
      [],
    ],
    [
      'through a table, declared on one side',
      {
        song: { lists: { collection: 'list', via: 'songs' } },
        list: {
          songs: {
            collection: 'song',
            via: 'lists',
            through: { tableName: 'PlaylistTrack', from: 'PlaylistId', to: 'TrackId' },
          },
        },
      },
      {
        'list.songs': 'songs over PlaylistTrack (PlaylistId, TrackId)',
        'song.lists': 'lists over PlaylistTrack (TrackId, PlaylistId)',
      },
      ['PlaylistTrack (PlaylistId -> list, TrackId -> song)'],
    ],
    [
      'through a table, declared on both sides',
      {
        song: { lists: { collection: 'list', via: 'songs', through: { tableName: 'pt', from: 't', to: 'p' } } },
        list: { songs: { collection: 'song', via: 'lists', through: { tableName: 'pt', from: 'p', to: 't' } } },
      },
      { 'list.songs': 'songs over pt (p, t)', 'song.lists': 'lists over pt (t, p)' },
      ['pt (p -> list, t -> song)'],
    ],
    [
      'through a table, without an attribute on the other side',
      { song: {}, list: { songs: { collection: 'song', through: { tableName: 'pt', from: 'p q', to: 't' } } } },
      { 'list.songs': 'songs over pt (p q, t)' },
      ['pt (p q -> list, t -> song)'],
    ],
    [
      'through a table, with an unrelated association on the other side',
      {
        song: { lists: { collection: 'list', through: { tableName: 'pt', from: 't', to: 'p' } } },
        list: { songs: { collection: 'song', through: { tableName: 'pt', from: 'p', to: 't' } } },
      },
      { 'list.songs': 'songs over pt (p, t)', 'song.lists': 'lists over pt (t, p)' },
      ['pt (p -> list, t -> song)'],
    ],
  ]
  for (const [title, sketch, shown, tables] of cases) {
    test(title, () => {
      const models = defineSketch(sketch)
      for (const [path, expected] of Object.entries(shown)) assert.equal(show(models, path), expected)
      const junctions = junctionsOf(models).map(
        ({ name, key }) =>
          `${name} (${key.map(({ column, references }) => `${column} -> ${references?.name}`).join(', ')})`,
      )
      assert.deepEqual(junctions, tables)
    })
  }
})

describe('an undeclared junction', () => {
  const models = defineSketch({
    user: { attributes: { id: { type: 'string', isUUID: true }, likes: { collection: 'pet' } } },
    pet: { attributes: { code: { type: 'string', primaryKey: true, columnType: 'char(8)', maxLength: 8 } } },
  })
  const [junction] = junctionsOf(models) as [Model]

  test('follows the models', () => assert.deepEqual([...models.keys()], ['user', 'pet', junction.name]))

  test('has its two foreign keys as primary key and no other attributes', () => {
    assert.deepEqual(junction.key, [...junction.attributes.values()])
    assert.equal(junction.primaryKey, junction.key[0])
    assert.equal(junction.table, junction.name)
    assert.equal(junction.associations.size, 0)
    for (const attribute of junction.key) {
      assert.deepEqual(
        [attribute.required, attribute.nullable, attribute.unique, attribute.generated],
        [true, false, false, false],
      )
      assert.deepEqual(attribute.rules, [])
    }
  })

  test('has the types of its foreign keys', () => {
    assert.deepEqual(
      junction.key.map(({ type, columnType, references }) => [type.name, columnType, references?.name]),
      [
        ['text', 'char(8)', 'pet'],
        ['uuid', undefined, 'user'],
      ],
    )
  })

  test('is the same from both sides, independent of the order of the models', () => {
    const user = { groups: { collection: 'group', via: 'members' } }
    const group = { members: { collection: 'user', via: 'groups' } }
    const [one, other] = [defineSketch({ user, group }), defineSketch({ group, user })]
    const [groups, members] = [find(one, 'user.groups'), find(one, 'group.members')]
    assert.ok(groups.kind === 'manyToMany' && members.kind === 'manyToMany')
    assert.equal(groups.junction, members.junction)
    assert.equal(groups.near, members.far)
    assert.deepEqual(
      junctionsOf(one).map(({ key }) => key.map(({ name }) => name)),
      junctionsOf(other).map(({ key }) => key.map(({ name }) => name)),
    )
  })
})

test('a shared to-many attribute of two models is not confused', () => {
  const models = defineModels(
    { user: { attributes: { mates: { collection: 'team', via: 'mates' } } }, team: {} },
    { mates: { collection: 'user', via: 'mates' } },
  )
  assert.equal(show(models, 'team.mates'), 'users over team_mates__user_mates (team_mates, user_mates)')
})
