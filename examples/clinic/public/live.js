// The visits of one day: read once, then updated by the event stream of the model.

// Signed in as the admin. A stream of events cannot carry an Authorization header; it carries the cookie.
// biome-ignore lint/suspicious/noDocumentCookie: a page without https has no cookie store
document.cookie = 'clinic=demo-admin; Path=/; SameSite=Strict'

const visits = new Map()
const rows = new Map()
const pets = new Map()
const vets = new Map()
const rooms = new Map()

const $ = (id) => document.getElementById(id)
const form = $('book')

// The displayed day, from midnight to midnight in the time zone of the browser.
const requestedDay = new URLSearchParams(location.search).get('day')
const from = requestedDay === null ? new Date() : new Date(`${requestedDay}T00:00`)
from.setHours(0, 0, 0, 0)
const dayAfter = (days) => new Date(from.getFullYear(), from.getMonth(), from.getDate() + days)
const isOnDay = { startsAt: { '>=': from.toISOString(), '<': dayAfter(1).toISOString() } }
const linkTo = (day) => `?day=${new Intl.DateTimeFormat('sv-SE').format(day)}`

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const clockWithSeconds = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

// ---- Requests

/** Resolves with the response body. Rejects with the messages of a problem document. */
async function request(path, method = 'GET', body = undefined) {
  const options = { method, headers: { accept: 'application/json', 'content-type': 'application/json' } }
  const response = await fetch(path, body === undefined ? options : { ...options, body: JSON.stringify(body) })
  const answer = await response.json()
  if (response.ok) return answer
  const invalid = Object.values(answer.invalidAttributes ?? {}).flat()
  throw new Error(invalid.map(({ message }) => message).join('; ') || answer.detail || response.statusText)
}

const filter = (where) => `where=${encodeURIComponent(JSON.stringify(where))}`

async function findPets(where, limit) {
  const found = await request(`pet?${filter(where)}&sort=name&limit=${limit}&populate=owner`)
  for (const pet of found) pets.set(pet.id, pet)
  return found
}

/** An event contains the id of a pet; its name is requested when it is needed for the first time. */
async function loadPets(ids) {
  const unknown = [...new Set(ids)].filter((id) => !pets.has(id))
  if (unknown.length > 0) await findPets({ id: unknown }, unknown.length)
}

/** Runs the handler of a user action and displays its error beside the form. */
async function attempt(action) {
  $('problem').textContent = ''
  $('result').textContent = ''
  try {
    await action()
  } catch (error) {
    $('problem').textContent = error.message
  }
}

// ---- Events

let lastEventId = ''

function subscribe() {
  const resume = lastEventId === '' ? '' : `&lastEventId=${encodeURIComponent(lastEventId)}`
  const source = new EventSource(`visit?${filter(isOnDay)}${resume}`)
  const on = (name, handler) =>
    source.addEventListener(name, (event) => {
      lastEventId = event.lastEventId || lastEventId
      handler(JSON.parse(event.data))
    })

  on('ready', () => {
    showConnection('live', 'live')
    if (!isLoaded) enqueue(load)
  })
  // Events may be missing: the connection was lost for too long, or the page was too slow.
  on('reset', () => enqueue(load))
  on('restart', () => showConnection('lost', 'server restarts'))
  for (const verb of ['created', 'updated', 'destroyed']) on(verb, (event) => enqueue(() => receive(event)))

  source.addEventListener('error', () => {
    showConnection('lost', 'reconnecting')
    if (source.readyState !== EventSource.CLOSED) return // the browser reconnects
    setTimeout(subscribe, 2000)
  })
}

/** One after another, so that events that arrive during a read are applied to its result. */
let queue = Promise.resolve()
function enqueue(task) {
  queue = queue.then(task).catch((error) => {
    $('problem').textContent = error.message
  })
}

let isLoaded = false
async function load() {
  const found = await request(`visit?${filter(isOnDay)}&limit=500&populate=false`)
  await loadPets(found.map(({ pet }) => pet))
  visits.clear()
  for (const visit of found) visits.set(visit.id, visit)
  isLoaded = true
  render()
}

async function receive(event) {
  const { pet } = { ...event.previous, ...event.data }
  if (pet !== undefined) await loadPets([pet])
  logEvent(event)
  apply(event)
  render(event.id)
}

function apply({ verb, id, data, previous }) {
  if (verb === 'destroyed') visits.delete(id)
  else visits.set(id, { ...previous, ...visits.get(id), ...data })
}

// ---- Display

function showConnection(state, text) {
  $('connection').dataset.state = state
  $('connection').textContent = text
}

/** Updates rows in place, so that an input that is being edited keeps its text. */
function render(changedId) {
  const ordered = [...visits.values()].sort((a, b) => a.startsAt.localeCompare(b.startsAt) || a.id.localeCompare(b.id))
  for (const [id, row] of rows) {
    if (visits.has(id)) continue
    row.remove()
    rows.delete(id)
  }
  ordered.forEach((visit, index) => {
    const row = rows.get(visit.id) ?? createRow(visit.id)
    fill(row, visit)
    const current = $('visits').children[index]
    if (current !== row) $('visits').insertBefore(row, current ?? null)
    if (visit.id === changedId) highlight(row)
  })
  for (const status of ['booked', 'done', 'missed']) {
    $(status).textContent = ordered.filter((visit) => visit.status === status).length
  }
  $('empty').hidden = ordered.length > 0 || !isLoaded
  if (ordered.length === 0 && isLoaded) linkToLastVisit()
}

function createRow(id) {
  const row = $('visit').content.firstElementChild.cloneNode(true)
  rows.set(id, row)
  row.dataset.id = id
  const update = (values) => attempt(() => request(`visit/${id}`, 'PATCH', values))
  for (const button of row.querySelectorAll('button[data-status]')) {
    button.addEventListener('click', () => update({ status: button.dataset.status }))
  }
  const reason = row.querySelector('.reason')
  reason.addEventListener('change', () => update({ reason: reason.value }))
  reason.addEventListener('blur', () => fill(row, visits.get(id)))
  reason.addEventListener('keydown', ({ key }) => key === 'Enter' && reason.blur())
  const remove = row.querySelector('.remove')
  remove.addEventListener('click', () => {
    if (remove.classList.contains('confirm')) attempt(() => request(`visit/${id}`, 'DELETE'))
    remove.classList.add('confirm')
    remove.textContent = 'Remove?'
  })
  row.addEventListener('mouseleave', () => {
    remove.classList.remove('confirm')
    remove.textContent = '✕'
  })
  return row
}

function fill(row, visit) {
  if (!visit) return
  const pet = pets.get(visit.pet)
  const part = (selector) => row.querySelector(selector)
  row.dataset.status = visit.status
  part('time').textContent = clock.format(new Date(visit.startsAt))
  part('time').dateTime = visit.startsAt
  part('strong').textContent = pet?.name ?? `No. ${visit.pet}`
  part('.kind').textContent = pet ? describe(pet) : ''
  const reason = part('.reason')
  if (document.activeElement !== reason) reason.value = visit.reason
  part('.place-of-visit').textContent = [vets.get(visit.vet)?.name, rooms.get(visit.room)?.name]
    .filter(Boolean)
    .join(', ')
}

const describe = (pet) => [pet.species, pet.owner?.name ?? 'no owner'].join(' · ')

function highlight(row) {
  row.classList.remove('changed')
  void row.offsetWidth // restarts the animation
  row.classList.add('changed')
}

function logEvent({ verb, id, data, previous }) {
  const { pet } = { ...visits.get(id), ...previous, ...data }
  const change = data?.status ?? (data?.reason && `“${data.reason}”`)
  const entry = document.createElement('li')
  const time = document.createElement('time')
  const name = document.createElement('b')
  time.textContent = clockWithSeconds.format(new Date())
  name.textContent = pets.get(pet)?.name ?? `No. ${pet}`
  entry.append(time, name, verb === 'updated' && change ? `updated: ${change}` : verb)
  $('events').prepend(entry)
  while ($('events').children.length > 8) $('events').lastElementChild.remove()
}

async function linkToLastVisit() {
  const [last] = await request(
    `visit?${filter({ startsAt: { '<': from.toISOString() } })}&sort=startsAt DESC&limit=1&populate=false`,
  )
  if (!last || visits.size > 0) return
  const day = new Date(last.startsAt)
  const link = document.createElement('a')
  link.href = linkTo(day)
  link.textContent = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long' }).format(day)
  $('empty').replaceChildren('No visits on this day. The last one before was on ', link, '.')
}

// ---- The form

/** The text of a suggestion contains the key, because several pets have the same name. */
const suggestionOf = (pet) => `${pet.name} · ${describe(pet)} · ${pet.id}`

form.elements.pet.addEventListener('input', async ({ target }) => {
  const name = target.value.trim()
  if (name.length === 0 || name.includes('·')) return
  const found = await findPets({ name: { startsWith: name } }, 12)
  if (target.value.trim() !== name) return
  $('pets').replaceChildren(
    ...found.map((pet) => {
      const option = document.createElement('option')
      option.value = suggestionOf(pet)
      return option
    }),
  )
})

/** The chosen suggestion, or the first pet whose name begins with the text: the form may be submitted while typing. */
async function petFor(text) {
  const chosen = [...pets.values()].find((pet) => suggestionOf(pet) === text)
  if (chosen) return chosen
  const name = text.charAt(0).toUpperCase() + text.slice(1)
  const [first] = await findPets({ name: { startsWith: name } }, 1)
  if (!first) throw new Error(`No pet is called “${text}”`)
  return first
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  attempt(async () => {
    const { pet: input, reason, time, vet } = form.elements
    const pet = await petFor(input.value.trim())
    const [hours, minutes] = time.value.split(':')
    const startsAt = new Date(from)
    startsAt.setHours(hours, minutes)
    const visit = { pet: pet.id, reason: reason.value, startsAt: startsAt.toISOString() }
    await request('visit?populate=false', 'POST', vet.value === '' ? visit : { ...visit, vet: Number(vet.value) })
    $('result').textContent = `Booked: ${pet.name}, ${describe(pet)}, at ${time.value}`
    input.value = ''
    reason.value = ''
    input.focus()
  })
})

// ---- Start

$('day').textContent = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' }).format(from)
$('previous').href = linkTo(dayAfter(-1))
$('next').href = linkTo(dayAfter(1))
form.elements.time.value = clock.format(new Date())

await attempt(async () => {
  const [allVets, allRooms] = await Promise.all([
    request('vet?sort=name&limit=100&populate=false'),
    request('room?limit=100&populate=false'),
  ])
  for (const vet of allVets) vets.set(vet.id, vet)
  for (const room of allRooms) rooms.set(room.id, room)
})
for (const [id, { name }] of vets) form.elements.vet.append(new Option(name, id))
subscribe()
