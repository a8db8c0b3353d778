/** A model as an ES module, in an application that uses them. */
export default {
  attributes: {
    title: { type: 'string', required: true },
    done: { type: 'boolean', defaultsTo: false },
    owner: { model: 'person' },
  },
}
