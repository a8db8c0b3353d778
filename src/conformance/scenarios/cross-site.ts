import assert from 'node:assert/strict'
import { column, create, list, record, refused, stored } from '../expect.ts'
import type { Api, Scenario } from '../scenario.ts'

const strangers: readonly Readonly<Record<string, string>>[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
  // Browsers that do not say it in so many words.
  { origin: 'https://evil.test', host: 'zoo.test' },
  { origin: 'null', host: 'zoo.test' },
  { referer: 'https://evil.test/page', host: 'zoo.test' },
  { origin: 'https://zoo.test.evil.test', host: 'zoo.test' },
]

const readingAhead: readonly Readonly<Record<string, string>>[] = [
  { 'sec-purpose': 'prefetch' },
  { 'sec-purpose': 'prefetch;prerender' },
  { purpose: 'prefetch' },
]

const friends: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none' },
  { origin: 'http://zoo.test', host: 'zoo.test' },
]

async function writes(api: Api, id: unknown, headers: Readonly<Record<string, string>>) {
  return [
    await api.request('GET', '/specimen/create?label=b', { headers }),
    await api.request('GET', `/specimen/update/${id}?label=c`, { headers }),
    await api.request('GET', `/specimen/destroy/${id}`, { headers }),
  ]
}

/** Writing by GET is what the interface offers, and what a link on anybody's page could do. */
export const crossSite: readonly Scenario[] = [
  {
    name: 'cross-site: a shortcut that writes is refused to pages of other sites, and to browsers that read ahead',
    needs: ['anyRequest', 'bytes'],
    async run(api) {
      const made = await create(api, 'specimen', { label: 'a' })
      for (const headers of [...strangers, ...readingAhead]) {
        for (const answer of await writes(api, made.id, headers)) refused(answer, 'E_FORBIDDEN')
      }
      assert.deepEqual(await stored(api, 'specimen', made.id), made)
      assert.equal(list(await api.request('GET', '/specimen')).length, 1)
    },
  },
  {
    name: 'cross-site: shortcuts of associations are no exception',
    async run(api) {
      const ann = await create(api, 'keeper', { name: 'Ann' })
      const leo = await create(api, 'animal', { name: 'Leo' })
      const headers = { 'sec-fetch-site': 'cross-site' }
      for (const path of [`animals/add/${leo.id}`, `animals/remove/${leo.id}`, `animals/replace?animals=[${leo.id}]`]) {
        refused(await api.request('GET', `/keeper/${ann.id}/${path}`, { headers }), 'E_FORBIDDEN')
      }
      assert.equal((await stored(api, 'animal', leo.id)).keeper, null)
    },
  },
  {
    name: 'cross-site: reading is not refused',
    async run(api) {
      await create(api, 'specimen', { label: 'a' })
      for (const headers of [...strangers.slice(0, 1), ...readingAhead]) {
        assert.deepEqual(column(await api.request('GET', '/specimen', { headers }), 'label'), ['a'])
        assert.deepEqual(column(await api.request('GET', '/specimen/find', { headers }), 'label'), ['a'])
      }
    },
  },
  {
    name: 'cross-site: pages of the same site, links that somebody typed and programs may write',
    needs: ['anyRequest', 'bytes'],
    async run(api) {
      for (const headers of friends) {
        const { id } = await create(api, 'specimen', { label: 'a' })
        const [created, updated, destroyed] = await writes(api, id, headers)
        assert.equal(record(created as never, 201).label, 'b')
        assert.equal(record(updated as never).label, 'c')
        assert.equal(record(destroyed as never).id, id)
      }
    },
  },
]
