import { createService } from '../../../src/index.ts'
import { settings } from './settings.ts'

/** `node serve.ts DATABASE`: serves until it is killed, and says its address when it can be planned. */
const service = await createService({ ...settings, database: process.argv[2] ?? '' })
const { url } = await service.listen(0)
process.stdout.write(`${url}\n`)
// The test holds the other end: this process ends with it, also when it is killed.
process.stdin.on('end', () => process.exit()).resume()
