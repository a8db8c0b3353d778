import type { OrderUser } from './users.ts'

/** What a hook within a transaction is given. */
export interface Change {
  // biome-ignore lint/suspicious/noExplicitAny: the hooks serve every model
  readonly tx: any
  readonly user: OrderUser | null
  readonly isSystem: boolean
  /** Absent of a record that is destroyed. */
  readonly record?: { readonly id: number }
  /** Absent of a record that is created. */
  readonly previous?: { readonly id: number }
}

/** Hooks that write a row of the audit trail in the transaction of every change of a model, whatever caused it. */
export function audited(model: string) {
  const note = ({ tx, user, isSystem, record, previous }: Change): Promise<void> =>
    tx.audit.create({
      user: user === null ? (isSystem ? 'system' : 'anonymous') : `${user.role} ${user.id}`,
      record: `${model} ${(record ?? previous)?.id}`,
      before: previous ?? null,
      after: record ?? null,
    })
  return { within: { create: note, update: note, destroy: note } }
}
