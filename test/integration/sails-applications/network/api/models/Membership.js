module.exports = {
  attributes: { role: { type: 'string', lowercase: true }, user: { model: 'user' }, group: { model: 'group' } },
}
