export default { attributes: { name: { type: 'string', required: true }, tasks: { collection: 'task', via: 'owner' } } }
