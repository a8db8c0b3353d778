import assert from 'node:assert/strict'
import { type BenchRequest, cases, requestsOf } from './cases.ts'
import type { Server } from './measure.ts'

/*
 * Runs before the measurement: all servers must return the same JSON for the same requests and reject the same ones.
 * Otherwise servers that do less work would seem faster.
 */

const comparedPerCase = 40

/** Requests that every server must reject, with the status. */
const refusals: readonly [BenchRequest, number][] = [
  [{ method: 'GET', target: '/pet/999999' }, 404],
  [{ method: 'PATCH', target: '/pet/999999', body: '{"weight":1}' }, 404],
  [{ method: 'POST', target: '/pet', body: '{"kind":"cat","age":1,"weight":2}' }, 400],
  [{ method: 'POST', target: '/pet', body: '{"name":"Rex","kind":"dragon","age":1,"weight":2}' }, 400],
  [{ method: 'POST', target: '/pet', body: '{"name":"Rex"' }, 400],
  [{ method: 'PATCH', target: '/pet/1', body: '{"weight":"heavy"}' }, 400],
  [{ method: 'PATCH', target: '/pet/1', body: '{"weihgt":1}' }, 400],
  [{ method: 'GET', target: '/pet?where=%7B%22colour%22%3A1%7D' }, 400],
  [{ method: 'GET', target: '/patient?where=%7B%22owner%22%3A%7B%22colour%22%3A1%7D%7D' }, 400],
  [{ method: 'GET', target: '/patient?sort=age&cursor=somewhere' }, 400],
  [{ method: 'GET', target: '/patient?populate=colour' }, 400],
]

interface Answer {
  readonly status: number
  readonly text: string
}

/** Throws at the first difference; returns the names of the cases whose responses differ in bytes. */
export async function verify(servers: readonly Server[], names: readonly string[]): Promise<readonly string[]> {
  const different = new Set<string>()
  for (const { name } of cases.filter((known) => names.includes(known.name))) {
    const requests = servers.map(({ given }) => requestsOf(name, given, comparedPerCase))
    for (let index = 0; index < comparedPerCase; index++) {
      const request = requests[0]?.[index] as BenchRequest
      const [expected, ...others] = await askAll(servers, (server) => requests[server]?.[index] as BenchRequest)
      assert.ok(
        expected && expected.status < 300,
        `${request.target} was answered with ${expected?.status}: ${expected?.text}`,
      )
      for (const other of others) {
        assert.equal(other.status, expected.status, `${request.method} ${request.target}: ${other.text}`)
        assert.deepEqual(comparable(other.text), comparable(expected.text), `${request.method} ${request.target}`)
        if (withoutTimes(other.text) !== withoutTimes(expected.text)) different.add(name)
      }
    }
    await verifyTag(servers.at(-1) as Server, requests.at(-1)?.[0] as BenchRequest)
  }
  for (const [request, status] of refusals) {
    for (const { status: given, text } of await askAll(servers, () => request)) {
      assert.equal(given, status, `${request.method} ${request.target} ${request.body ?? ''}: ${text}`)
    }
  }
  return [...different]
}

/** Keelson knows the tag, if the case has one. */
async function verifyTag({ port }: Server, { target, tag }: BenchRequest): Promise<void> {
  if (tag === undefined) return
  const { status } = await fetch(`http://127.0.0.1:${port}${target}`, { headers: { 'If-None-Match': tag } })
  assert.equal(status, 304, target)
}

const askAll = async (
  servers: readonly Server[],
  requestOf: (server: number) => BenchRequest,
): Promise<readonly Answer[]> => {
  const answers: Answer[] = []
  for (const [index, { port }] of servers.entries()) answers.push(await ask(port, requestOf(index)))
  return answers
}

async function ask(port: number, { method, target, body }: BenchRequest): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${target}`, {
    method,
    headers: { connection: 'close', ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body }),
  })
  if (response.ok) {
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
  }
  return { status: response.status, text: await response.text() }
}

const canonicalTime = /"(createdAt|updatedAt)":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g

/** Written records have the time of each server; the initial data is the same. */
const withoutTimes = (text: string): string =>
  text.replace(canonicalTime, (member, name: string) => (member.includes(`:"${thisYear}`) ? `"${name}":"now"` : member))

const thisYear = `${new Date().getFullYear()}-`

const comparable = (text: string): unknown => JSON.parse(withoutTimes(text))
