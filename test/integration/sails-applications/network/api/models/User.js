/** Associations of a model with itself, and through another model. */
module.exports = {
  attributes: {
    name: { type: 'string', required: true },
    follows: { collection: 'user', via: 'followers', dominant: true },
    followers: { collection: 'user', via: 'follows' },
    groups: { collection: 'group', through: 'membership', via: 'user' },
    supervisor: { model: 'user' },
    team: { collection: 'user', via: 'supervisor' },
  },
}
