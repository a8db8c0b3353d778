// Run by Node, Deno and Bun: prints what it sees of the service at the address of its argument, one step per line.
import { createClient, InvalidError } from 'keelson/client'

const url = globalThis.Deno ? Deno.args[0] : globalThis.process.argv[2]
const print = (step, values = {}) => console.log(JSON.stringify({ step, ...values }))

// Notes whether live queries are resumed, and otherwise leaves requests as they are.
let isResumed = false
const send = globalThis.fetch
globalThis.fetch = (input, init) => {
  if (String(input).endsWith('/live') && /"after":"[^"]/.test(init.body)) isResumed = true
  return send(input, init)
}

const api = createClient({ url, retryDelayMs: [10, 50] })

const [ann, rex] = await api.batch((tx) => {
  const owner = tx.owner.create({ name: 'Ann' })
  return [owner, tx.pet.create({ name: 'Rex', owner: tx.result(owner).id })]
})
const { data } = await api.pet.find({ where: { owner: { name: { startsWith: 'A' } } }, populate: ['owner'] })
const all = []
for await (const { name } of api.pet.all({ sort: 'name' })) all.push(name)
const refused = await api.pet.create({}).catch((error) => error)
const aborted = await api.pet.find({}, { signal: AbortSignal.abort() }).catch((error) => error)
print('requests', {
  answers: {
    batch: [ann.name, rex.name],
    find: data.map(({ name, owner }) => `${name} of ${owner.name}`),
    all,
    refused: refused instanceof InvalidError && `${refused.code} ${Object.keys(refused.invalidAttributes)}`,
    aborted: aborted.name,
  },
})

const pets = api.pet.live({ sort: 'name' })
let shown = ''
const ends = Promise.withResolvers()
pets.ready.catch(ends.reject)
let wasOffline = false
let isWriting = false
pets.subscribe(({ rows, status }) => {
  if (status !== 'live') {
    if (!wasOffline && rows.length > 0) print('offline')
    wasOffline ||= rows.length > 0
    return
  }
  const names = rows.map(({ name }) => name)
  if (isWriting || names.join() === shown) return
  shown = names.join()
  print('rows', { names })
  if (names.length !== 3) return
  print('resumed', { isResumed })
  isWriting = true
  const writing = api.pet.update(rows[1].id, { name: 'Maxi' }, { optimistic: true })
  print('optimistic', { names: pets.rows.map(({ name }) => name) })
  writing.then(ends.resolve, ends.reject)
})
await ends.promise
api.close()
