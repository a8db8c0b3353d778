module.exports = {
  attributes: {
    nick: { type: 'string', alphadashed: true, maxLength: 20 },
    rooms: { collection: 'room', via: 'members' },
  },
}
