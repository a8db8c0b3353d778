import { type AuthRequest, ServiceError } from 'keelson'

/** What the rules know of a user: its role, and the key of its record. */
export interface ClinicUser {
  readonly id: number
  readonly role: 'owner' | 'vet' | 'admin'
}

/** In place of a sign-in, each of these tokens stands for a user. An application verifies tokens, with `auth.jwt`. */
const demoUsers: ReadonlyMap<string, ClinicUser> = new Map([
  ['demo-owner', { id: 1, role: 'owner' }],
  ['demo-vet', { id: 1, role: 'vet' }],
  ['demo-admin', { id: 1, role: 'admin' }],
])

/** The token is in `Authorization: Bearer`, in the URL of a socket, or in a cookie. Without one the user is anonymous. */
export function identify({ headers, query, cookies }: AuthRequest): ClinicUser | null {
  const [, bearer] = /^Bearer (\S+)$/.exec(String(headers.authorization)) ?? []
  const token = bearer ?? new URLSearchParams(query).get('token') ?? cookies.clinic
  if (token === undefined) return null
  const user = demoUsers.get(token)
  if (!user) throw new ServiceError('E_UNAUTHENTICATED', `The tokens are ${[...demoUsers.keys()].join(', ')}`)
  return user
}
