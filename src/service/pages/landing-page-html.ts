import { type Association, type Attribute, everyAttribute, type Model } from '../../model/model.ts'
import { folded } from '../../model/names.ts'
import type { Json } from '../../protocol/json.ts'
import type { ModelRoutes } from '../dispatch/model-routes.ts'
import { curlOf, type ExampleRequest, exampleRequests } from './example-requests.ts'
import { type Html, html } from './html.ts'
import { landingPageScript } from './landing-page-script.ts'
import { landingPageStyle } from './landing-page-style.ts'

/** The landing page: the models of a service, with example requests. */
export function landingPageHtml(models: readonly ModelRoutes[], origin: string, pages: readonly string[]): Html {
  const host = origin.replace(/^https?:\/\//, '')
  const count = models.length === 1 ? 'One model' : `${models.length} models`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Keelson data service at ${host}</title>
<link rel="icon" href="${icon}">
<style>${landingPageStyle}</style>
</head>
<body>
<a class="skip" href="#models">Skip to the models</a>
<header>
<p class="brand">${keel} keelson</p>
<h1>Data service at ${host}</h1>
<p class="lead">${count} over HTTP and sockets. Every URL below returns JSON.${pages.map((page) => html` Live page: <a href="./${encodeURIComponent(page)}">${page}</a>.`)}</p>
</header>
<div class="columns">
<nav aria-label="Models"><ul>${models.map(({ model }) => html`<li><a href="#${model.name}">${model.name}</a></li>`)}</ul></nav>
<main id="models">
${models.map((routes, index) => modelSection(routes, origin, index === 0))}
</main>
</div>
<footer>
<p>The models and routes as JSON: <code>curl ${origin}</code>. All routes: <code>keelson routes</code>. All changes: <code>keelson log</code>.</p>
</footer>
${{ markup: `<script>${landingPageScript}</script>` }}
</body>
</html>
`
}

/** The logo: a hull in cross-section; the keelson is the beam on top of the keel. */
const keel = html`<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"><path d="M2.5 5c0 8 4 12.5 9.5 14.5C17.5 17.5 21.5 13 21.5 5"/><path d="M12 19.5V22"/><path d="M9 14h6v2.8H9z" fill="currentColor"/></svg>`

/** The logo as an icon of the browser's tab. */
const icon = `data:image/svg+xml,${encodeURIComponent(keel.markup.replace('<svg ', '<svg xmlns="http://www.w3.org/2000/svg" ').replaceAll('currentColor', '#0f5e73'))}`

function modelSection(routes: ModelRoutes, origin: string, isFirst: boolean): Html {
  const { model, lines } = routes
  const records = lines.find(({ operation, method }) => operation === 'find' && method === 'GET')?.path
  const attributes = everyAttribute(model).filter(({ hidden }) => !hidden)
  const own = attributes.filter((attribute) => !isTimestamp(attribute))
  const toMany = [...model.associations.values()].filter((association) => association.kind !== 'belongsTo')
  return html`<section id="${model.name}" aria-labelledby="${model.name}-title">
<div class="title">
<h2 id="${model.name}-title">${model.name}</h2>
${records === undefined ? html`` : html`<a class="records" href=".${records}">${records}<span aria-hidden="true"> &rarr;</span></a>`}
</div>
<details${isFirst ? html` open` : html``}><summary>Requests</summary>
<ol>${exampleRequests(routes).map((request) => exampleItem(request, origin))}</ol>
</details>
<details><summary>Attributes</summary>
<table>
<thead><tr><th scope="col">Attribute</th><th scope="col">Type</th><th scope="col">Rules</th></tr></thead>
<tbody>${own.map(attributeRow)}${toMany.map(associationRow)}${timestampRow(attributes.filter(isTimestamp))}</tbody>
</table>
</details>${actionList(routes)}
</section>
`
}

/** The addresses of the actions of a model, with their descriptions. */
function actionList({ model: { actions }, lines }: ModelRoutes): Html {
  const rows = lines.flatMap(({ method, path, operation }) => {
    const action = actions.get(folded(operation))
    return action ? [row(html`${action.name}`, html`${method} ${path}`, html`${action.description ?? ''}`)] : []
  })
  return rows.length === 0
    ? html``
    : html`
<details><summary>Actions</summary>
<table>
<thead><tr><th scope="col">Action</th><th scope="col">Route</th><th scope="col">Description</th></tr></thead>
<tbody>${rows}</tbody>
</table>
</details>`
}

const row = (name: Html, type: Html, words: Html): Html =>
  html`<tr><th scope="row">${name}</th><td>${type}</td><td>${words}</td></tr>
`

function attributeRow(attribute: Attribute): Html {
  const { name, isPrimaryKey, references, type } = attribute
  return row(
    isPrimaryKey ? html`${name} <span class="key">key</span>` : html`${name}`,
    references ? html`one ${link(references)}` : html`${type.name}`,
    html`${wordsOf(attribute).join(', ')}`,
  )
}

function associationRow(association: Association): Html {
  const { name, kind, target } = association
  if (kind === 'hasMany') return row(html`${name}`, html`many ${link(target)}`, html`by their ${association.via.name}`)
  const between = kind === 'manyToMany' && !association.junction.isJunction ? association.junction : undefined
  return row(html`${name}`, html`many ${link(target)}`, between ? html`through ${link(between)}` : html``)
}

/** The timestamps of a model share one row, because all models have them and clients do not set them. */
const timestampRow = (timestamps: readonly Attribute[]): Html =>
  timestamps.length === 0
    ? html``
    : row(
        html`<span class="timestamps">${timestamps.map(({ name }) => name).join(', ')}</span>`,
        html`<span class="timestamps">${timestamps[0]?.type.name ?? ''}</span>`,
        html`set by the service`,
      )

const isTimestamp = ({ autoCreatedAt, autoUpdatedAt }: Attribute): boolean => autoCreatedAt || autoUpdatedAt

function wordsOf(attribute: Attribute): readonly string[] {
  const { required, unique, isPrimaryKey, autoIncrement, generated, defaultsTo, rules, computed, stored } = attribute
  return [
    ...(computed || stored.isComputed ? ['computed'] : []),
    ...(autoIncrement || generated ? ['generated'] : []),
    ...(required && !stored.isComputed ? ['required'] : []),
    ...(unique && !isPrimaryKey ? ['unique'] : []),
    ...rules.map(({ name, expects }) => ruleWords(name, expects ?? true)),
    ...(defaultsTo === undefined || typeof defaultsTo === 'function'
      ? []
      : [`${JSON.stringify(defaultsTo)} by default`]),
  ]
}

function ruleWords(rule: string, expects: Json): string {
  const said = Array.isArray(expects) ? expects.join(', ') : String(expects)
  switch (rule) {
    case 'isIn':
      return `one of ${said}`
    case 'min':
      return `at least ${said}`
    case 'max':
      return `at most ${said}`
    case 'minLength':
      return `${said} characters or more`
    case 'maxLength':
      return `up to ${said} characters`
    case 'isEmail':
      return 'an email address'
    case 'isURL':
      return 'a URL'
    case 'regex':
      return `matches ${said}`
    case 'custom':
      return 'custom rule'
    default:
      return `${rule} ${said}`
  }
}

const link = ({ name }: Model): Html => html`<a href="#${name}">${name}</a>`

function exampleItem(request: ExampleRequest, origin: string): Html {
  const { label, method, path, body } = request
  const data = body === undefined ? html`` : html` data-body="${body}"`
  const button = html`<button type="button" data-method="${method}" data-path="${path}"${data}>Run</button>`
  return html`<li><span>${label}</span><code>${curlOf(request, origin)}</code>${button}<output hidden></output></li>`
}
