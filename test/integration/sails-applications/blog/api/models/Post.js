module.exports = {
  attributes: {
    title: { type: 'String', required: true },
    body: { type: 'text' },
    author: { model: 'User' },
    publishedAt: { type: 'date', defaultsTo: () => new Date() },
    tags: 'array',
    draft: { type: 'BOOLEAN', defaultsTo: true, required: true },
  },
}
