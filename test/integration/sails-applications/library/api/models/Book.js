/** Sails 1.1: rules of Anchor 1.x, and column types for automatic migrations. */
module.exports = {
  datastore: 'default',
  primaryKey: 'isbn',
  fetchRecordsOnUpdate: true,
  attributes: {
    isbn: { type: 'string', required: true, autoMigrations: { columnType: '_stringkey', unique: true } },
    title: { type: 'string', required: true, allowNull: true },
    pages: { type: 'number', isInteger: true, isNumber: true, isNotIn: [0], autoMigrations: { columnType: '_number' } },
    language: { type: 'string', isIn: ['de', 'en'], isString: true },
    soldAt: { type: 'ref', columnType: 'datetime', isAfter: new Date('2000-01-01'), isBefore: new Date('2100-01-01') },
    cover: { type: 'string', isHexColor: true, defaultsTo: '#ffffff' },
    card: { type: 'string', isCreditCard: true },
    copies: { type: 'number', columnType: 'bigint' },
    shelf: { model: 'shelf' },
  },
}
