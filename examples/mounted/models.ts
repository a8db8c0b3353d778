export const models = {
  author: {
    attributes: {
      name: { type: 'string', required: true },
      books: { collection: 'book', via: 'author' },
    },
  },
  book: {
    attributes: {
      title: { type: 'string', required: true },
      author: { model: 'author' },
    },
  },
} as const
