import { createService } from '../src/index.ts'
import { reportToParent } from './child.ts'
import { models } from './data.ts'

/** `node keelson-server.ts DATABASE PORT [without-sockets|without-kept-answers|max-stale|writers-self]`; without a port it only makes the tables. */
const [database = '', port, option] = process.argv.slice(2)
const service = await createService({
  database,
  models,
  ...(option === 'without-kept-answers' && { limits: { maxKeptBytes: 0 } }),
  ...(option === 'max-stale' && { cache: { maxStaleMs: 1000 } }),
  ...(option === 'writers-self' && { writers: 'self' }),
  ...(option === 'without-sockets' && { sockets: false }),
})
if (port !== undefined) await service.listen(Number(port), '127.0.0.1')
reportToParent(() => service.close())
