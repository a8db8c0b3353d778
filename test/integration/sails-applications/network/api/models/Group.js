module.exports = {
  attributes: { title: { type: 'string', contains: 'group' }, members: { collection: 'user', via: 'groups' } },
}
