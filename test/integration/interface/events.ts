import assert from 'node:assert/strict'
import { type Clause, create, found } from './api.ts'

/** Section 6: events for sockets. */
export const events: readonly Clause[] = [
  {
    name: '6, find over a socket subscribes it to every returned record: updates are sent to it',
    async run(api) {
      const { id } = await create(api, 'pet')
      await using socket = await api.connect()
      await socket.ask('get', { url: `/pet?id=${id}` })
      found(await api.ask('PUT', `/pet/${id}`, { json: { name: 'changed' } }))
      const frame = JSON.parse((await socket.until((text) => text.startsWith('42["pet",'))).slice(2))
      assert.deepEqual([frame[0], frame[1].verb, frame[1].id, frame[1].data.name], ['pet', 'updated', id, 'changed'])
    },
  },
  {
    name: '6, own changes: an update is sent to the subscribed socket that requested it',
    async run(api) {
      const { id } = await create(api, 'pet')
      await using socket = await api.connect()
      await socket.ask('get', { url: `/pet?id=${id}` })
      await socket.ask('put', { url: `/pet/${id}`, data: { name: 'own' } })
      const [, payload] = JSON.parse((await socket.until((text) => text.startsWith('42["pet",'))).slice(2))
      assert.deepEqual([payload.verb, payload.id, payload.data.name], ['updated', id, 'own'])
    },
  },
  {
    name: '6, own changes: destroy is published to the subscribed socket that requested it',
    async run(api) {
      const { id } = await create(api, 'pet')
      await using socket = await api.connect()
      await socket.ask('get', { url: `/pet/${id}` })
      await socket.ask('delete', { url: `/pet/${id}` })
      const [, payload] = JSON.parse((await socket.until((text) => text.startsWith('42["pet",'))).slice(2))
      assert.deepEqual([payload.verb, payload.id], ['destroyed', id])
    },
  },
  {
    name: '6, destroy is published to all sockets subscribed to the record, which are then unsubscribed',
    async run(api) {
      const { id } = await create(api, 'pet')
      await using one = await api.connect()
      await using two = await api.connect()
      for (const socket of [one, two]) await socket.ask('get', { url: `/pet/${id}` })
      found(await api.ask('DELETE', `/pet/${id}`))
      for (const socket of [one, two]) {
        const [name, payload] = JSON.parse((await socket.until((text) => text.startsWith('42["pet",'))).slice(2))
        assert.deepEqual([name, payload.verb, payload.id], ['pet', 'destroyed', id])
      }
      // A new record with the same key is another record.
      found(await api.ask('POST', '/pet', { json: { id, name: 'again' } }), 201)
      found(await api.ask('PUT', `/pet/${id}`, { json: { name: 'changed' } }))
      for (const socket of [one, two]) {
        await socket.ask('get', { url: '/item?limit=0' })
        const verbs = socket.events().map(([, payload]) => (payload as { verb: string }).verb)
        assert.deepEqual(verbs, [])
      }
    },
  },
  {
    name: '6, requests over HTTP subscribe nothing',
    async run(api) {
      const { id } = await create(api, 'pet')
      await using socket = await api.connect()
      found(await api.ask('PUT', `/pet/${id}`, { json: { name: 'changed' } }))
      await socket.ask('get', { url: '/item?limit=0' })
      assert.deepEqual(socket.events(), [])
    },
  },
]
