import type { ModelDefinition } from 'keelson'
import { type Context, concernedVisits, isStaff } from '../access.ts'

/** A prescription is readable with its visit. */
const ofVisit = (context: Context) => {
  const visits = concernedVisits(context)
  return typeof visits === 'boolean' ? visits : { visit: visits }
}
/** The vet of a visit prescribes. */
const ofOwnVisit = (context: Context) => isStaff(context) && ofVisit(context)

/** The junction of visits and treatments, with the dose and its duration. */
export const prescription = {
  access: { read: ofVisit, create: ofOwnVisit, update: ofOwnVisit, destroy: ofOwnVisit },
  attributes: {
    visit: { model: 'visit', required: true },
    treatment: { model: 'treatment', required: true },
    dose: { type: 'number', required: true, min: 0 },
    unit: { type: 'string', required: true, isIn: ['mg', 'ml', 'piece'] },
    days: { type: 'number', isInteger: true, min: 1, max: 365, defaultsTo: 1 },
  },
} as const satisfies ModelDefinition
