/** Keys are given by the requests, so that two services make the same records. */
const plain = { createdAt: false, updatedAt: false } as const

export const models = {
  team: {
    primaryKey: 'code',
    attributes: {
      ...plain,
      code: { type: 'string', required: true },
      name: { type: 'string', unique: true },
      players: { collection: 'player', via: 'team' },
      tags: { collection: 'tag', via: 'teams' },
    },
  },
  player: {
    primaryKey: 'code',
    attributes: {
      ...plain,
      code: { type: 'string', required: true },
      points: { type: 'number', min: 0, defaultsTo: 0 },
      team: { model: 'team', onDestroy: 'cascade' },
      captain: { model: 'player' },
    },
  },
  tag: {
    primaryKey: 'code',
    attributes: {
      ...plain,
      code: { type: 'string', required: true },
      teams: { collection: 'team', via: 'tags' },
    },
  },
} as const

export const modelNames = ['team', 'player', 'tag'] as const
