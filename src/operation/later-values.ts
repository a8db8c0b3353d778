import type { Assignment } from '../model/assignment.ts'
import type { Attribute, Model } from '../model/model.ts'
import { accept, stepsOf, ValidationFailure } from '../model/validate.ts'
import { ServiceError, type Violation } from '../protocol/errors.ts'
import type { LaterValue, OperationServices } from './operation.ts'
import { invalidRecord } from './record-values.ts'

/** The values that are known now that the record is written, validated. A schema may wait, so its values are refused. */
export function laterAssignments(
  later: ReadonlyMap<Attribute, LaterValue>,
  model: Model,
  { limits: { maxValueBytes } }: OperationServices,
): readonly Assignment[] {
  const invalid: Record<string, readonly Violation[]> = {}
  const assignments: Assignment[] = []
  for (const step of stepsOf(model)) {
    const { attribute } = step
    const laterValue = later.get(attribute)
    if (!laterValue) continue
    if (attribute.schema)
      throw new ServiceError('E_BAD_REQUEST', `"${attribute.name}" of ${model.name} takes no reference`)
    const value = accept(step, laterValue(), maxValueBytes)
    if (value instanceof ValidationFailure) invalid[attribute.name] = value.violations
    else assignments.push({ attribute, value })
  }
  if (Object.keys(invalid).length > 0) throw invalidRecord(model, invalid)
  return assignments
}
