import assert from 'node:assert/strict'
import type { Json } from '../../protocol/json.ts'
import { address, create, invalid, record, refused } from '../expect.ts'
import type { Answer, Api, Scenario } from '../scenario.ts'

const secret = '4711-secret'

/** Asserts that neither the name nor the value of the hidden attribute is in an answer. */
function withoutSecret(answer: Answer, status = 200): Answer {
  assert.equal(answer.status, status, answer.text)
  assert.ok(!answer.text.includes('"pin"') && !answer.text.includes(secret), answer.text)
  return answer
}

const createKeeper = async (api: Api): Promise<number> => {
  const answer = await api.request('POST', '/keeper', { body: { name: 'Ann', pin: secret } })
  return record(withoutSecret(answer, 201), 201).id as number
}

/** Attributes with `hidden: true`: written by clients, and never returned. */
export const hidden: readonly Scenario[] = [
  {
    name: 'hidden: no answer contains it',
    async run(api) {
      const id = await createKeeper(api)
      const animal = await create(api, 'animal', { name: 'Rex', keeper: id })
      const requests: readonly (readonly [method: string, path: string, body?: Json])[] = [
        ['GET', '/keeper'],
        ['GET', '/keeper?select=*'],
        ['GET', '/keeper?omit=name'],
        ['GET', `/keeper/${id}`],
        ['GET', `/animal/${animal.id}`],
        ['GET', '/animal?populate=keeper'],
        ['GET', `/animal/${animal.id}/keeper`],
        ['PATCH', `/keeper/${id}`, { pin: `${secret}-new` }],
        ['PUT', `/keeper/${id}/animals`, [animal.id as Json]],
        ['POST', `/keeper/${id}/trainees`, { name: 'Bob', pin: secret }],
        ['DELETE', `/keeper/${id}`],
      ]
      for (const [method, path, body] of requests) {
        const answer = await api.request(method, path, body === undefined ? {} : { body })
        withoutSecret(answer)
      }
    },
  },
  {
    name: 'hidden: a reference is refused like one to an unknown attribute',
    async run(api) {
      await createKeeper(api)
      const references = (name: string): readonly string[] => [
        `/keeper?${name}=1`,
        address('/keeper', { where: { [name]: secret } }),
        address('/keeper', { where: { not: { or: [{ [name]: { startsWith: '4' } }] } } }),
        address('/animal', { where: { keeper: { [name]: { '!=': null } } } }),
        `/keeper?sort=${name}`,
        `/animal?sort=keeper.${name}`,
        `/keeper?select=name,${name}`,
        `/keeper?omit=${name}`,
        address('/animal', { populate: { keeper: { select: [name] } } }),
        address('/keeper', { populate: { trainees: { where: { [name]: '1' } } } }),
        `/keeper?count=true&${name}=1`,
        `/keeper/1/trainees?${name}=1`,
      ]
      const unknown = references('nix')
      for (const [index, path] of references('pin').entries()) {
        const answer = refused(await api.request('GET', path), 'E_BAD_CRITERIA')
        const expected = refused(await api.request('GET', unknown[index] as string), 'E_BAD_CRITERIA')
        assert.equal(JSON.stringify(answer), JSON.stringify(expected).replaceAll('nix', 'pin'), path)
      }
    },
  },
  {
    name: 'hidden: a written value is validated, and the answer does not repeat it',
    async run(api) {
      const answer = await api.request('POST', '/keeper', { body: { name: 'Ann', pin: secret.repeat(3) } })
      invalid(answer, { pin: ['maxLength'] })
      assert.ok(!answer.text.includes(secret))
    },
  },
]
