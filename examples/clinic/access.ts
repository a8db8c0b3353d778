import type { RuleContext, RuleOutcome } from 'keelson'
import type { ClinicUser } from './users.ts'

/** What a rule of the clinic is given. */
export type Context = RuleContext<ClinicUser>

/** The catalogue, such as species and treatments: everyone reads it, an admin changes it. Also for actions without a rule. */
export const catalogue = { read: true, create: 'admin', update: 'admin', destroy: 'admin' } as const

export const isStaff = ({ user }: Context): boolean => user?.role === 'vet' || user?.role === 'admin'

/** The pets of an owner, the patients of a vet. */
export function concernedPets({ user }: Context): RuleOutcome {
  switch (user?.role) {
    case 'admin':
      return true
    case 'vet':
      return { visits: { vet: user.id } }
    case 'owner':
      return { owner: user.id }
    default:
      return false
  }
}

/** The visits of an owner's pets, the visits of a vet. */
export function concernedVisits({ user }: Context): RuleOutcome {
  switch (user?.role) {
    case 'admin':
      return true
    case 'vet':
      return { vet: user.id }
    case 'owner':
      return { pet: { owner: user.id } }
    default:
      return false
  }
}

/** Owners themselves, and the owners of a vet's patients. */
export function concernedOwners({ user }: Context): RuleOutcome {
  switch (user?.role) {
    case 'admin':
      return true
    case 'vet':
      return { pets: { visits: { vet: user.id } } }
    case 'owner':
      return { id: user.id }
    default:
      return false
  }
}

/** Records that one of the rules allows. */
export const either = (outcome: RuleOutcome, other: RuleOutcome): RuleOutcome =>
  outcome === true || other === true || { or: [outcome, other].filter((condition) => condition !== false) }
