import { createService } from '../../src/index.ts'
import { settings } from './settings.ts'

/** `node serve.ts DATABASE`: serves until it is killed, and says its address when it can be asked. */
const service = await createService({ ...settings, database: process.argv[2] ?? '' })
const { url } = await service.listen(0)
process.stdout.write(`${url}\n`)
// Whoever started us holds the other end: we do not outlive a test that was killed itself.
process.stdin.on('end', () => process.exit()).resume()
