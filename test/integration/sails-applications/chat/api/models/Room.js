/** Sails 0.11: a many-to-many association, and settings of publish and subscribe. */
module.exports = {
  identity: 'Room',
  connection: 'localDisk',
  autosubscribe: ['destroy', 'update'],
  autoWatch: true,
  attributes: {
    name: { type: 'string', required: true, unique: true },
    members: { collection: 'User', via: 'rooms', dominant: true },
    messages: { collection: 'message', via: 'room' },
  },
  afterCreate: [
    (_room, next) => {
      next()
    },
  ],
}
