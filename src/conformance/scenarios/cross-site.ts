import assert from 'node:assert/strict'
import { column, create, list, record, refused, stored } from '../expect.ts'
import type { Api, Scenario } from '../scenario.ts'

const crossSiteHeaders: readonly Readonly<Record<string, string>>[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
  { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'same-origin', origin: 'https://evil.test', host: 'localhost' },
  { origin: 'http://localhost:81', host: 'localhost' },
  // Browsers without `Sec-Fetch-Site`.
  { origin: 'https://evil.test', host: 'localhost' },
  { origin: 'null', host: 'localhost' },
  { referer: 'https://evil.test/page', host: 'localhost' },
  { origin: 'https://localhost.evil.test', host: 'localhost' },
]

const prefetchHeaders: readonly Readonly<Record<string, string>>[] = [
  { 'sec-purpose': 'prefetch' },
  { 'sec-purpose': 'prefetch;prerender' },
  { purpose: 'prefetch' },
]

/** Requests of plain HTTP, for which browsers send no `Sec-Fetch-Site`. */
const plainHttpHeaders: readonly Readonly<Record<string, string>>[] = [
  { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)' },
  { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)', host: '192.168.1.5:1337' },
]

const friends: readonly Readonly<Record<string, string>>[] = [
  {},
  { 'sec-fetch-site': 'same-origin' },
  { 'sec-fetch-site': 'none' },
  { origin: 'http://localhost', host: 'localhost' },
  { 'user-agent': 'Mozilla/5.0', referer: 'http://localhost/page', host: 'localhost' },
  { 'user-agent': 'curl/8.5.0', host: '192.168.1.5:1337' },
]

async function writes(api: Api, id: unknown, headers: Readonly<Record<string, string>>) {
  return [
    await api.request('GET', '/specimen/create?label=b', { headers }),
    await api.request('GET', `/specimen/update/${id}?label=c`, { headers }),
    await api.request('GET', `/specimen/destroy/${id}`, { headers }),
  ]
}

/** Shortcuts write by GET, which any page can cause by a link or an image. */
export const crossSite: readonly Scenario[] = [
  {
    name: 'cross-site: a shortcut that writes is refused to pages of other sites and to prefetching browsers',
    needs: ['anyRequest', 'bytes'],
    async run(api) {
      const made = await create(api, 'specimen', { label: 'a' })
      for (const headers of [...crossSiteHeaders, ...plainHttpHeaders, ...prefetchHeaders]) {
        for (const answer of await writes(api, made.id, headers)) refused(answer, 'E_FORBIDDEN')
      }
      assert.deepEqual(await stored(api, 'specimen', made.id), made)
      assert.equal(list(await api.request('GET', '/specimen')).length, 1)
    },
  },
  {
    name: 'cross-site: the shortcuts of associations are refused as well',
    needs: ['http'],
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
    name: 'cross-site: reads are served',
    async run(api) {
      await create(api, 'specimen', { label: 'a' })
      for (const headers of [...crossSiteHeaders.slice(0, 1), ...prefetchHeaders]) {
        assert.deepEqual(column(await api.request('GET', '/specimen', { headers }), 'label'), ['a'])
        assert.deepEqual(column(await api.request('GET', '/specimen/find', { headers }), 'label'), ['a'])
      }
    },
  },
  {
    name: 'cross-site: pages of the same origin, typed addresses and programs may write',
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
