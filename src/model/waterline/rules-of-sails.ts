import { rulesOf } from '../rules.ts'

/**
 * The rules of a definition, as Sails applies them: an empty text violates none except `custom`, because Sails stores it where
 * an optional value is omitted. A UUID, which cannot be empty, is null then. A `required` attribute refuses it before its rules
 * are applied.
 */
export const rulesOfSails: typeof rulesOf = (definition, type) => {
  const { rules, problems } = rulesOf(definition, type)
  return {
    rules: rules.map((rule) =>
      rule.name === 'custom' ? rule : { ...rule, check: (value) => (value === '' ? undefined : rule.check(value)) },
    ),
    problems,
    emptyIsNull: type.storedAs === 'uuid',
  }
}
