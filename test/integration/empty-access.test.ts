import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createService } from '../../src/index.ts'
import type { Json } from '../../src/protocol/json.ts'

/* A declared access without rules forbids everything; what the configuration says of an action still holds. */

const attributes = { name: { type: 'string' } } as const
const actions = { rename: { on: 'model', run: () => 'done' } }

const defaults = [undefined, 'public', { read: true }, { create: false }, { shadow: 0 }] as const
const reads = (access: (typeof defaults)[number]) =>
  access === 'public' || (typeof access === 'object' && 'read' in access)

for (const access of defaults) {
  const open = () =>
    createService({
      database: 'memory:',
      ...(access !== undefined && { access }),
      models: { note: { access: {}, attributes, actions } },
    } as never)
  const requests: readonly (readonly [method: string, path: string, body: Json | undefined, isAllowed: boolean])[] = [
    ['GET', '/note', undefined, reads(access)],
    ['POST', '/note', { name: 'a' }, access === 'public'],
    ['PATCH', '/note/1', { name: 'a' }, access === 'public'],
    ['DELETE', '/note/1', undefined, access === 'public'],
    ['POST', '/note/rename', {}, false],
  ]
  for (const [method, path, body, isAllowed] of requests) {
    const verb = isAllowed ? 'allowed' : 'forbidden'
    test(`access: {} of a model under ${JSON.stringify(access) ?? 'no defaults'}: ${method} ${path} is ${verb}`, async () => {
      await using service = await open()
      await service.system.records.note?.create({ id: 1, name: 'first' })
      const { status } = await service.handle({ method, path, query: '', headers: {}, body, site: 'none' })
      assert.equal(status === 403 || status === 404, !isAllowed, String(status))
      assert.ok(status < 500, String(status))
    })
  }
}
