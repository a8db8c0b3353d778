import { join } from 'node:path'
import { reportToParent } from './child.ts'

/** `node versions-server.ts DATABASE OPTION PORT FOLDER [PORT FOLDER]`: the checkouts of Keelson in these folders, in one process. */
const [database = '', option, ...places] = process.argv.slice(2)
const services: { close(): Promise<void> }[] = []
for (let index = 0; index < places.length; index += 2) {
  const [port, folder] = places.slice(index, index + 2) as [string, string]
  const { createService } = await import(join(folder, 'src/index.ts'))
  const { models } = await import(join(folder, 'bench/data.ts'))
  const limits = option === 'without-kept-answers' ? { maxKeptBytes: 0 } : {}
  const service = await createService({ database, models, limits })
  await service.listen(Number(port), '127.0.0.1')
  services.push(service)
}
reportToParent(() => Promise.all(services.map((service) => service.close())))
