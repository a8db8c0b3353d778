module.exports = {
  attributes: {
    title: { type: 'string', required: true, notEmpty: true, index: true },
    products: { collection: 'product', via: 'category', dominant: true },
  },
}
