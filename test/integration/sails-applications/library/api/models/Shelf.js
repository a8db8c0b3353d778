module.exports = {
  attributes: { code: { type: 'string', columnName: 'shelf_code' }, books: { collection: 'book', via: 'shelf' } },
}
