/** In place of a sign-in, three tokens stand for users. */
export interface OrderUser {
  readonly id: number
  readonly role: 'customer' | 'staff'
}

const users: Readonly<Record<string, OrderUser>> = {
  'demo-ann': { id: 1, role: 'customer' },
  'demo-bob': { id: 2, role: 'customer' },
  'demo-staff': { id: 100, role: 'staff' },
}

export const identify = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }): OrderUser | null => {
  const token = String(headers.authorization ?? '').replace(/^Bearer /, '')
  return Object.hasOwn(users, token) ? (users[token] as OrderUser) : null
}
