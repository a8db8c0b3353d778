import type { Association, Attribute, Model } from '../model/model.ts'
import type { Json } from '../protocol/json.ts'
import { type CurlLine, curlLines } from './curl-lines.ts'
import { type Html, html } from './html.ts'
import type { ModelRoutes } from './model-routes.ts'
import { welcomeStyle } from './welcome-style.ts'

/** The page at the root of a service: what there is, and how one asks for it. */
export function welcomeHtml(models: readonly ModelRoutes[], origin: string): Html {
  const host = origin.replace(/^https?:\/\//, '')
  const count = models.length === 1 ? 'one model' : `${models.length} models`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${host} · keelson</title>
<style>${welcomeStyle}</style>
</head>
<body>
<a class="skip" href="#models">To the models</a>
<header>
<p class="brand">${keel} keelson</p>
<h1>${host}</h1>
<p class="lead">This service keeps the records of ${count}. Every address below answers in JSON.</p>
</header>
<div class="columns">
<nav aria-label="Models"><ul>${models.map(({ model }) => html`<li><a href="#${model.name}">${model.name}</a></li>`)}</ul></nav>
<main id="models">
${models.map((routes, index) => modelSection(routes, origin, index === 0))}
</main>
</div>
<footer>
<p>The same for programs: <code>curl ${origin}</code>. All addresses: <code>keelson routes</code>. What happens to the records: <code>keelson log</code>.</p>
<p>Filters, sorting, pages and associations are described in <code>README.md</code> and under <code>docs/</code> in the repository.</p>
</footer>
</body>
</html>
`
}

/** A ship's bottom, seen from the front: the keelson is the beam that lies on the keel. */
const keel = html`<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"><path d="M2.5 5c0 8 4 12.5 9.5 14.5C17.5 17.5 21.5 13 21.5 5"/><path d="M12 19.5V22"/><path d="M9 14h6v2.8H9z" fill="currentColor"/></svg>`

function modelSection(routes: ModelRoutes, origin: string, isFirst: boolean): Html {
  const { model, lines } = routes
  const records = lines.find(({ operation, method }) => operation === 'find' && method === 'GET')?.path
  const attributes = [...model.attributes.values()]
  const own = attributes.filter((attribute) => !isStamp(attribute))
  const toMany = [...model.associations.values()].filter((association) => association.kind !== 'belongsTo')
  return html`<section id="${model.name}" aria-labelledby="${model.name}-title">
<div class="title">
<h2 id="${model.name}-title">${model.name}</h2>
${records === undefined ? html`` : html`<a class="records" href=".${records}">${records}<span aria-hidden="true"> →</span></a>`}
</div>
<table>
<thead><tr><th scope="col">Attribute</th><th scope="col">Type</th><th scope="col">Rules</th></tr></thead>
<tbody>${own.map(attributeRow)}${toMany.map(associationRow)}${stampRow(attributes.filter(isStamp))}</tbody>
</table>
<details${isFirst ? html` open` : html``}><summary>Try it with curl</summary>
<ol>${curlLines(routes, origin).map(curlItem)}</ol>
</details>
</section>
`
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
  if (kind === 'hasMany')
    return row(html`${name}`, html`many ${link(target)}`, html`those whose ${association.via.name} it is`)
  const between = kind === 'manyToMany' && !association.junction.isJunction ? association.junction : undefined
  return row(html`${name}`, html`many ${link(target)}`, between ? html`through ${link(between)}` : html``)
}

/** All models have these, and nobody has to do anything about them: a line is enough. */
const stampRow = (stamps: readonly Attribute[]): Html =>
  stamps.length === 0
    ? html``
    : row(
        html`<span class="stamps">${stamps.map(({ name }) => name).join(', ')}</span>`,
        html`<span class="stamps">${stamps[0]?.type.name ?? ''}</span>`,
        html`kept by the service`,
      )

const isStamp = ({ autoCreatedAt, autoUpdatedAt }: Attribute): boolean => autoCreatedAt || autoUpdatedAt

function wordsOf(attribute: Attribute): readonly string[] {
  const { required, unique, isPrimaryKey, autoIncrement, generated, defaultsTo, rules } = attribute
  return [
    ...(autoIncrement || generated ? ['given by the service'] : []),
    ...(required ? ['required'] : []),
    ...(unique && !isPrimaryKey ? ['unique'] : []),
    ...rules.map(({ name, expects }) => ruleWords(name, expects ?? true)),
    ...(defaultsTo === undefined || typeof defaultsTo === 'function'
      ? []
      : [`${JSON.stringify(defaultsTo)} unless given`]),
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
      return 'an e-mail address'
    case 'isURL':
      return 'a web address'
    case 'regex':
      return `like ${said}`
    case 'custom':
      return 'with a rule of its own'
    default:
      return `${rule} ${said}`
  }
}

const link = ({ name }: Model): Html => html`<a href="#${name}">${name}</a>`

const curlItem = ({ does, line }: CurlLine): Html => html`<li><span>${does}</span><code>${line}</code></li>`
