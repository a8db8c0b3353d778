import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The parts of a Sails application that a configuration uses. */
export interface SailsApplication {
  /** Whether `config/models.js` declares attributes of all models. */
  readonly hasSharedAttributes: boolean
  /** The automatic attributes that `config/models.js` of Sails 0.x turns off for all models. */
  readonly withoutAttributes: readonly string[]
  /** The lifecycle callbacks that `config/models.js` declares for all models. */
  readonly sharedCallbacks: readonly string[]
  /** Whether `config/policies.js` declares policies. */
  readonly hasPolicies: boolean
  /** Whether `config/blueprints.js` turns the routes of both styles off, so that all routes are those of the application. */
  readonly isWithoutModelRoutes: boolean
  /** The adapters of its databases, such as `sails-mysql`. */
  readonly adapters: readonly string[]
  /** Route settings of `config/blueprints.js`, as source text by option. */
  readonly routeSettings: ReadonlyMap<string, string>
  /** Route settings whose values are expressions, such as `process.env.BASE_PATH`. */
  readonly computedSettings: readonly string[]
}

/** An option of `config/blueprints.js` that a configuration has as well, and its value. */
const routeSetting =
  /(?:^|[{,])\s*(prefix|restPrefix|pluralize|rest|shortcuts|populate|jsonp)\s*:\s*([^\s,}][^\n,}]*?)(?=\s*(?:[,}]|\s\/\/|$))/gm

const plainValue = /^(?:'[^']+'|"[^"]+"|true|false)$/
const emptyText = /^(?:''|"")$/

/**
 * The name of an adapter of a database: those of sessions and sockets, which are set in the same files, have other names. In
 * comments are those of other databases, which new applications begin with.
 */
const adapter = /['"]((?:@[\w.-]+\/)?(?:sails|waterline)-(?!hook-)[\w.-]+)['"]/g

/** Where an application of either generation names its databases. */
const databaseFiles = [
  'config/datastores.js',
  'config/connections.js',
  'config/local.js',
  'config/env/development.js',
  'config/env/production.js',
]

const callback = /\b((?:before|after)(?:Validate|Create|Update|Destroy))\s*[:(]/g

/** The settings of Sails 0.x that turn automatic attributes off. In 1.x these are options of attributes. */
const automaticAttributes = { autoPK: 'id', autoCreatedAt: 'createdAt', autoUpdatedAt: 'updatedAt' }

/** Finds a Sails application by its folder of models and by a sign of Sails. */
export function detectSailsApplication(folder: string): SailsApplication | undefined {
  const has = (path: string): boolean => existsSync(join(folder, path))
  const isSails =
    has('.sailsrc') || has('config/bootstrap.js') || /"sails"\s*:/.test(read(join(folder, 'package.json')))
  if (!has('api/models') || !isSails) return undefined
  const blueprints = withoutComments(read(join(folder, 'config/blueprints.js')))
  const given = [...blueprints.matchAll(routeSetting)].map(([, option = '', value = '']) => [option, value] as const)
  const routeSettings = new Map(given.filter(([, value]) => plainValue.test(value)))
  const isWithoutModelRoutes = routeSettings.get('rest') === 'false' && routeSettings.get('shortcuts') === 'false'
  // A service needs one of the two.
  if (isWithoutModelRoutes) routeSettings.delete('rest')
  const databases = databaseFiles.map((file) => withoutComments(read(join(folder, file)))).join('\n')
  const adapters = [...new Set([...databases.matchAll(adapter)].map(([, name]) => name as string))]
  const models = withoutComments(read(join(folder, 'config/models.js')))
  const isTurnedOff = (setting: string): boolean => new RegExp(`\\b${setting}\\s*:\\s*false\\b`).test(models)
  return {
    hasSharedAttributes: /\battributes\s*:/.test(models),
    withoutAttributes: Object.entries(automaticAttributes)
      .filter(([setting]) => isTurnedOff(setting))
      .map(([, attribute]) => attribute),
    sharedCallbacks: [...new Set([...models.matchAll(callback)].map(([, name]) => name as string))],
    hasPolicies: /\bpolicies\s*=\s*\{\s*[^\s}]/.test(withoutComments(read(join(folder, 'config/policies.js')))),
    isWithoutModelRoutes,
    // An application of 1.x that names none has its records in this folder.
    adapters: adapters.length === 0 && has('.tmp/localDiskDb') ? ['sails-disk'] : adapters,
    routeSettings,
    computedSettings: given
      .filter(([, value]) => !plainValue.test(value) && !emptyText.test(value))
      .map(([option]) => option),
  }
}

/** The configuration file of a Sails application. */
export function sailsConfigText(application: SailsApplication): string {
  const { hasSharedAttributes, withoutAttributes, sharedCallbacks, adapters, routeSettings, computedSettings } =
    application
  const turnedOff = withoutAttributes.map((name) => `${name}: false`)
  const shared = [...turnedOff, ...(hasSharedAttributes ? ['...sails.models.attributes'] : [])].join(', ')
  const lines = [
    "import { defineConfig, loadModels } from 'keelson'",
    ...(hasSharedAttributes
      ? ['// @ts-ignore: JavaScript without types.', "import sails from './config/models.js'"]
      : []),
    '',
    'export default defineConfig({',
    '  // The database; DATABASE_URL overrides it. postgres://user@host/name selects PostgreSQL.',
    ...databaseNote(adapters),
    "  database: 'sqlite:data/app.db',",
    '',
    '  // Reads the options of Waterline. Lifecycle callbacks run; other functions of models are reported at start.',
    ...(sharedCallbacks.length > 0
      ? [
          `  // Those of config/models.js, ${sharedCallbacks.join(' and ')}, do not run: declare them in each model. Times that they set`,
          '  // are attributes with `autoCreatedAt: true` or `autoUpdatedAt: true`.',
        ]
      : []),
    "  compatibility: 'sails',",
    "  models: await loadModels(new URL('./api/models', import.meta.url)),",
    ...(turnedOff.length > 0
      ? [`  attributes: { ${shared} },`]
      : hasSharedAttributes
        ? ['  attributes: sails.models.attributes,']
        : []),
    '  // Names in a body that are not attributes are dropped, as Sails does.',
    "  unknownAttributes: 'ignore',",
    ...(computedSettings.length > 0
      ? [`  // Set as in config/blueprints.js, where they are expressions: ${computedSettings.join(', ')}`]
      : []),
    ...[...routeSettings].map(([option, value]) => `  ${option}: ${value},`),
    ...accessNote(application),
    '})',
    '',
  ]
  return lines.join('\n')
}

/** What keeps clients from the records in the application, and has no effect on the service. */
function accessNote({ hasPolicies, isWithoutModelRoutes }: SailsApplication): readonly string[] {
  const notes = [
    ...(hasPolicies ? ['  // The policies of config/policies.js do not apply.'] : []),
    ...(isWithoutModelRoutes
      ? ['  // `rest: false` of config/blueprints.js is left out, as a service has routes of its models.']
      : []),
  ]
  const consequence = '  // Until `access` declares rules, every client that can connect may read and write everything.'
  return notes.length === 0 ? [] : [...notes, consequence]
}

/** The database that the file names is a new one. Applications of Sails 0.x name several, of which they may use one. */
function databaseNote(adapters: readonly string[]): readonly string[] {
  if (adapters.length === 0) return []
  if (adapters.join() === 'sails-postgresql')
    return [
      '  // The records of the application are in PostgreSQL: the URL in its configuration serves them, this file is new.',
    ]
  return [
    `  // This file is new: the records of the application are in the database of its own configuration (${adapters.join(', ')}).`,
    '  // "Coming from Sails", in the documentation, says how they are served or copied.',
  ]
}

const read = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '')

const withoutComments = (text: string): string =>
  text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '')
