/** Sails 0.10: columns and their sizes. */
module.exports = {
  schema: true,
  migrate: 'alter',
  adapter: 'mysql',
  attributes: {
    sku: {
      type: 'string',
      unique: { message: 'taken' },
      index: true,
      size: 12,
      notNull: true,
      alphanumericdashed: true,
    },
    name: { type: 'string', required: true, columnType: 'VARCHAR(255) CHARACTER SET utf8mb4' },
    price: { type: 'float', required: true, min: 0, decimal: true },
    stock: { type: 'INTEGER', defaultsTo: 0, int: true, integer: true },
    state: { type: 'string', enum: ['draft', 'active', 'sold out'], defaultsTo: 'draft', required: true },
    picture: { type: 'binary' },
    category: { model: 'category', index: true },
  },
}
