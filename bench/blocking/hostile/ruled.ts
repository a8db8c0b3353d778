import { type Hostile, patch, post, several } from './hostile.ts'

/** Requests under rules that depend on associated records. */
export const hostileRuled: readonly Hostile[] = [
  {
    name: 'a change under rules',
    isRuled: true,
    request: (n) => ({ method: 'PATCH', path: `/visit/${1 + n}?populate=false`, body: { pet: 1000 + n } }),
  },
  {
    name: 'a batch under rules',
    isRuled: true,
    request: (n) =>
      post(
        '/batch',
        several(50, (i) => ({ method: 'POST', url: '/visit', body: { pet: 1000 + n + i } })),
      ),
  },
  {
    name: '3,000 changed under rules',
    isRuled: true,
    request: (n) => patch('visit', { cost: n % 100 }, { pet: 1000 + n }, '&populate=false'),
  },
  {
    name: '3,000 destroyed under rules',
    isRuled: true,
    request: (n) => ({ method: 'DELETE', path: `/visit?where={"cost":${n % 100}}&populate=false` }),
  },
  {
    name: '1,000 members set under rules',
    isRuled: true,
    request: (n) => ({
      method: 'PUT',
      path: `/owner/${5 + (n % 3)}/pets`,
      body: several(1000, (i) => 150_000 + ((n * 1000 + i) % 30_000)),
    }),
  },
  {
    name: 'an owner with 1,000 new pets under rules',
    isRuled: true,
    request: (n) => post('/owner', { name: `n${n}`, city: 'c', pets: several(1000, (i) => ({ name: `p${i}` })) }),
  },
]
