import type { AttributeDefinitions, ModelDefinition, ModelDefinitions } from '../definition.ts'
import { modelOptionNames } from '../definition-shape.ts'
import { type Callback, withCallbacks } from './lifecycle.ts'
import { translateAttribute } from './translate-attribute.ts'
import { adviceFor, ignoredModelOptions, lifecycleCallback, typeWords } from './words.ts'

/** Definitions of a Sails application in the options of this package. */
export interface Translation {
  readonly models: ModelDefinitions
  readonly attributes: AttributeDefinitions
  /** What the definitions contain and the service does not use: sentences for the log. */
  readonly notes: readonly string[]
}

/** A function that is not run: `user.toJSON`. */
interface UnusedFunction {
  readonly place: string
  readonly advice: string
}

/**
 * Translates the models and shared attributes of a Sails application, of Waterline 0.x or 1.x. What neither Waterline nor
 * this package knows is kept, so that it is refused like in any definition.
 */
export function translateWaterline(models: ModelDefinitions, attributes: AttributeDefinitions = {}): Translation {
  const functions: UnusedFunction[] = []
  const unknown: string[] = []
  const translated = Object.entries(models).map(([name, model]) => {
    const translation = new ModelTranslation(name, model)
    functions.push(...translation.functions)
    unknown.push(...translation.unknown)
    return [name, translation.definition] as const
  })
  const shared = new ModelTranslation('attributes', { attributes })
  return {
    models: Object.fromEntries(translated),
    attributes: shared.definition.attributes ?? {},
    notes: [...functionNotes([...functions, ...shared.functions]), ...unknownNotes(unknown)],
  }
}

/** The options of this package. A model of Sails may have all of them: were one dropped, such as `access`, it would have no effect. */
const sameOptions = modelOptionNames.filter((name) => name !== 'attributes')

class ModelTranslation {
  readonly functions: UnusedFunction[] = []
  /** Members without a meaning, such as constants of the application. */
  readonly unknown: string[] = []
  readonly definition: ModelDefinition
  readonly #name: string

  constructor(name: string, model: ModelDefinition) {
    this.#name = name
    this.definition = typeof model === 'object' && model !== null ? this.#translate({ ...model }) : model
  }

  #translate(model: Record<string, unknown>): ModelDefinition {
    const { attributes = {}, autoPK, autoCreatedAt, autoUpdatedAt, types = {}, ...others } = model
    const definition: Record<string, unknown> = {}
    const callbacks: Record<string, Callback> = {}
    for (const [option, value] of Object.entries(others)) {
      if (sameOptions.includes(option)) definition[option] = value
      else if (isFunction(value) && lifecycleCallback.test(option)) callbacks[option] = value
      else if (isFunction(value)) this.#report(option)
      else if (isMisspelt(option)) definition[option] = value
      else if (!ignoredModelOptions.has(option)) this.unknown.push(`${this.#name}.${option}`)
    }
    const ownTypes = Object.keys(types as object)
    for (const type of ownTypes) this.#report(`types.${type}`)
    return {
      ...definition,
      ...(Object.keys(callbacks).length > 0 && { hooks: withCallbacks(definition.hooks, callbacks, model) }),
      attributes: {
        ...this.#attributes(attributes as object, ownTypes),
        ...(autoPK === false && !Object.hasOwn(attributes as object, 'id') && { id: false }),
        ...timestampAttribute('createdAt', 'autoCreatedAt', autoCreatedAt, attributes as object),
        ...timestampAttribute('updatedAt', 'autoUpdatedAt', autoUpdatedAt, attributes as object),
      },
    } as ModelDefinition
  }

  #attributes(attributes: object, ownTypes: readonly string[]): object {
    const translated: Record<string, unknown> = {}
    for (const [name, attribute] of Object.entries(attributes)) {
      if (isFunction(attribute)) this.#report(name)
      else if (typeof attribute !== 'string' && (typeof attribute !== 'object' || attribute === null)) {
        translated[name] = attribute
      } else {
        translated[name] = translateAttribute(attribute, ownTypes, (option) => this.#report(`${name}.${option}`))
      }
    }
    return translated
  }

  #report(member: string): void {
    this.functions.push({ place: `${this.#name}.${member}`, advice: adviceFor(member) })
  }
}

/** Lifecycle callbacks may be lists of functions. */
const isFunction = (value: unknown): value is Callback =>
  typeof value === 'function' ||
  (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'function'))

/** Another letter case of an option is a mistake and not a member of the application. Constants are in capitals. */
const isMisspelt = (option: string): boolean =>
  option !== option.toUpperCase() &&
  [...sameOptions, 'attributes', 'autoPK', 'autoCreatedAt', 'autoUpdatedAt', ...ignoredModelOptions].some(
    (known) => known !== option && known.toLowerCase() === option.toLowerCase(),
  )

/** In 0.x a model turns a timestamp off by `false` and renames it by a text. A declared one is set automatically too. */
function timestampAttribute(name: string, option: string, setting: unknown, attributes: object): object {
  const declared = attributes as Record<string, unknown>
  const own = declared[name]
  if (setting === false) return own === undefined ? { [name]: false } : {}
  if (typeof setting === 'string' && setting !== name)
    return { [name]: false, ...automatic(setting, option, declared[setting] ?? 'datetime') }
  return automatic(name, option, own)
}

/** In 1.x a timestamp is automatic only where its attribute says so; a type of 0.x, or nothing but a type, says that it is of 0.x. */
function automatic(name: string, option: string, own: unknown): object {
  const definition = typeof own === 'string' ? { type: own } : own
  if (typeof definition !== 'object' || definition === null || Object.hasOwn(definition, option)) return {}
  const { type = 'datetime' } = definition as { readonly type?: unknown }
  const kind = typeWords[String(type).toLowerCase()]?.type
  const isPlain = Object.keys(definition).every((key) => key === 'type' || key === 'columnName')
  const isOfVersion0 = kind === 'datetime' || (isPlain && (kind === 'string' || kind === 'number'))
  if (!isOfVersion0) return {}
  return { [name]: translateAttribute({ ...definition, [option]: true }, [], () => undefined) }
}

function functionNotes(functions: readonly UnusedFunction[]): readonly string[] {
  const byAdvice = Map.groupBy(functions, ({ advice }) => advice)
  return [...byAdvice].map(
    ([advice, places]) =>
      `Functions that are not run: ${places.map(({ place }) => place).join(', ')}. Instead, ${advice}.`,
  )
}

const unknownNotes = (places: readonly string[]): readonly string[] =>
  places.length === 0 ? [] : [`Members of models that have no effect: ${places.join(', ')}.`]
