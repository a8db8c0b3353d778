import type { Attribute, Model } from '../../model/model.ts'
import type { Json, JsonObject } from '../../protocol/json.ts'

/** Example values for a new record: its required attributes, or else one attribute. */
export function sampleRecord(model: Model): JsonObject {
  const own = [...model.attributes.values()].filter((attribute) => !isGenerated(attribute))
  const mandatory = own.filter((attribute) => mustBeGiven(attribute))
  const shown =
    mandatory.length > 0
      ? mandatory
      : own.filter(({ isPrimaryKey, references }) => !isPrimaryKey && !references).slice(0, 1)
  return Object.fromEntries(shown.map((attribute) => [attribute.name, sampleValue(attribute)]))
}

/** An example value for an update. */
export function sampleChange(model: Model): JsonObject {
  const [attribute] = [...model.attributes.values()].filter(
    (attribute) => !isGenerated(attribute) && !attribute.isPrimaryKey && !attribute.references,
  )
  return attribute === undefined ? {} : { [attribute.name]: sampleValue(attribute) }
}

/** An example primary key of this model. */
export const sampleKey = ({ primaryKey }: Model): string => String(sampleValue(primaryKey))

const isGenerated = ({ autoIncrement, generated, autoCreatedAt, autoUpdatedAt, stored }: Attribute): boolean =>
  autoIncrement || generated || autoCreatedAt || autoUpdatedAt || stored.isComputed

const mustBeGiven = ({ required, isPrimaryKey, defaultsTo }: Attribute): boolean =>
  (required || isPrimaryKey) && defaultsTo === undefined

function sampleValue(attribute: Attribute): Json {
  if (attribute.references) return sampleValue(attribute.references.primaryKey)
  const expected = (rule: string): Json | undefined => attribute.rules.find(({ name }) => name === rule)?.expects
  const allowed = expected('isIn')
  if (Array.isArray(allowed)) return allowed[0] as Json
  switch (attribute.type.storedAs) {
    case 'integer':
    case 'real':
      return numberWithin(expected('min'), expected('max'))
    case 'bigint':
      return '1'
    case 'boolean':
      return true
    case 'json':
      return {}
    case 'timestamp':
      return '2030-01-31T09:30:00.000Z'
    case 'uuid':
      return '0198c0de-0000-7000-8000-000000000001'
    case 'binary':
      return 'aGVsbG8='
    case 'text':
      return textFor(attribute, expected)
  }
}

function numberWithin(min: Json | undefined, max: Json | undefined): number {
  if (typeof min === 'number' && min > 1) return min
  return typeof max === 'number' && max < 1 ? max : 1
}

function textFor({ name, isPrimaryKey }: Attribute, expected: (rule: string) => Json | undefined): string {
  if (expected('isEmail')) return 'ann@example.com'
  if (expected('isURL')) return 'https://example.com'
  const text = isPrimaryKey ? name : `A ${name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()}`
  const maxLength = expected('maxLength')
  const minLength = expected('minLength')
  return text.slice(0, typeof maxLength === 'number' ? maxLength : text.length).padEnd(Number(minLength ?? 0), '.')
}
