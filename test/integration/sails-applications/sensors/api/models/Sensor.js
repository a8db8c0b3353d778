/** Sails 0.12 on MongoDB: types and rules of the application. */
const positive = (value) => value > 0

module.exports = {
  schema: false,
  types: { positive },
  UNITS: ['C', 'F'],
  attributes: {
    serial: { type: 'objectid', hexadecimal: true },
    address: { type: 'string', ip: true },
    gateway: { type: 'string', ipv4: true },
    color: { type: 'string', hexColor: true },
    token: { type: 'string', uuidv4: true },
    reading: { type: 'float', positive: true },
    unit: { type: 'string', notIn: ['K'] },
    settings: { type: 'json', defaultsTo: {} },
    seenAt: { type: 'time' },
  },
  findHot: function () {
    return this.find({ reading: { '>': 30 } })
  },
}
