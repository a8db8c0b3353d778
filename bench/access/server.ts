import { createService } from '../../src/index.ts'
import { reportToParent } from '../child.ts'
import { models } from '../data.ts'

/** `node server.ts DATABASE PORT [with-rules]`: the models of the benchmark, each with an owner, which is a user. */
const [database = '', port, rules] = process.argv.slice(2)

const mine = ({ user }: { readonly user: { readonly id: number } | null }) => user !== null && { createdBy: user.id }

const service = await createService({
  database,
  models,
  attributes: { createdBy: { type: 'number', defaultsTo: 1, index: true } },
  ...(rules === 'with-rules' && {
    // A new object for each request, as applications return it.
    auth: { identify: () => ({ id: 1 }) },
    access: { read: mine, create: mine, update: mine, destroy: mine },
  }),
})
await service.listen(Number(port), '127.0.0.1')
reportToParent(() => service.close())
