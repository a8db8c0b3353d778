/** Sails 1.0, as its generator writes it. */
module.exports = {
  attributes: {
    emailAddress: {
      type: 'string',
      required: true,
      unique: true,
      isEmail: true,
      maxLength: 200,
      example: 'mary.sue@example.com',
    },
    password: {
      type: 'string',
      required: true,
      description: 'Securely hashed representation of the password of the user.',
      protect: true,
      example: '2$28a8eabna301089103-13948134nad',
    },
    fullName: { type: 'string', maxLength: 120, isNotEmptyString: true, extendedDescription: 'First and last name.' },
    isSuperAdmin: { type: 'boolean', isBoolean: true, description: 'Whether this user has extra permissions.' },
    tosAcceptedByIp: {
      type: 'string',
      isIP: true,
      moreInfoUrl: 'https://example.com/tos',
      meta: { swagger: { format: 'ipv4' } },
    },
    emailChangeCandidate: { type: 'string', isEmail: true },
    billingCardBrand: { type: 'string', isIn: ['Visa', 'MasterCard'], defaultsTo: '' },
    billingCardLast4: { type: 'string', example: '4242', defaultsTo: '' },
    trialEndsAt: { type: 'string', columnType: 'timestamptz' },
    lastSeenAt: { type: 'number', example: 1502844074211 },
  },
  customToJSON: function () {
    return this
  },
}
