module.exports = {
  autoUpdatedAt: false,
  attributes: {
    text: { type: 'mediumtext', required: true },
    room: { model: 'room', required: true },
    sender: { model: 'user' },
  },
}
