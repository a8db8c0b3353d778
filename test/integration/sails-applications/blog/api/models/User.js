/** Sails 0.9: attributes by the name of their type, instance methods and callbacks with `next`. */
module.exports = {
  attributes: {
    login: 'STRING',
    email: { type: 'email', required: true, unique: true },
    password: { type: 'string', required: true, minLength: 6, protected: true },
    homepage: { type: 'url' },
    posts: { collection: 'post', via: 'author' },

    displayName: function () {
      return this.login || this.email
    },
    toJSON: function () {
      const user = this.toObject()
      delete user.password
      return user
    },
  },

  beforeCreate: (values, next) => {
    next(null, values)
  },
}
