// The waiting room of one day: read once, and from then on kept in step by what the server tells.

const visits = new Map()
const rows = new Map()
const pets = new Map()
const vets = new Map()
const rooms = new Map()

const $ = (id) => document.getElementById(id)
const form = $('arrive')

// The day that is looked at, from midnight to midnight where we are.
const asked = new URLSearchParams(location.search).get('day')
const from = asked === null ? new Date() : new Date(`${asked}T00:00`)
from.setHours(0, 0, 0, 0)
const dayAfter = (days) => new Date(from.getFullYear(), from.getMonth(), from.getDate() + days)
const isOnDay = { startsAt: { '>=': from.toISOString(), '<': dayAfter(1).toISOString() } }
const addressOf = (day) => `?day=${new Intl.DateTimeFormat('sv-SE').format(day)}`

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const clockWithSeconds = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

// ---- Asking

/** The answer, or an error that says what people should know of it. */
async function ask(path, method = 'GET', body = undefined) {
  const request = { method, headers: { accept: 'application/json', 'content-type': 'application/json' } }
  const response = await fetch(path, body === undefined ? request : { ...request, body: JSON.stringify(body) })
  const answer = await response.json()
  if (response.ok) return answer
  const invalid = Object.values(answer.invalidAttributes ?? {}).flat()
  throw new Error(invalid.map(({ message }) => message).join('; ') || answer.detail || response.statusText)
}

const filter = (where) => `where=${encodeURIComponent(JSON.stringify(where))}`

/** An event says which animal it is about, not what it is called: that is asked for when it is needed first. */
async function learnPets(ids) {
  const unknown = [...new Set(ids)].filter((id) => !pets.has(id))
  if (unknown.length === 0) return
  const found = await ask(`pet?${filter({ id: unknown })}&populate=owner&limit=${unknown.length}`)
  for (const pet of found) pets.set(pet.id, pet)
}

/** What is done by a click; what goes wrong with it is said beside the form. */
async function attempt(deed) {
  $('problem').textContent = ''
  try {
    await deed()
  } catch (error) {
    $('problem').textContent = error.message
  }
}

// ---- Listening

let lastEventId = ''

function listen() {
  const since = lastEventId === '' ? '' : `&lastEventId=${encodeURIComponent(lastEventId)}`
  const source = new EventSource(`visit?${filter(isOnDay)}${since}`)
  const on = (name, work) =>
    source.addEventListener(name, (event) => {
      lastEventId = event.lastEventId || lastEventId
      work(JSON.parse(event.data))
    })

  on('ready', () => {
    showLine('live', 'live')
    if (!isRead) inTurn(read)
  })
  // We were away for too long, or did not keep up: what we have may be wrong.
  on('reset', () => inTurn(read))
  on('restart', () => showLine('lost', 'the server restarts'))
  for (const verb of ['created', 'updated', 'destroyed']) on(verb, (event) => inTurn(() => hear(event)))

  source.addEventListener('error', () => {
    showLine('lost', 'reconnecting')
    if (source.readyState !== EventSource.CLOSED) return // the browser tries again by itself
    setTimeout(listen, 2000)
  })
}

/** One after another: what is told while the list is read is applied to the list that was read. */
let turn = Promise.resolve()
function inTurn(work) {
  turn = turn.then(work).catch((error) => {
    $('problem').textContent = error.message
  })
}

let isRead = false
async function read() {
  const found = await ask(`visit?${filter(isOnDay)}&limit=500&populate=false`)
  await learnPets(found.map(({ pet }) => pet))
  visits.clear()
  for (const visit of found) visits.set(visit.id, visit)
  isRead = true
  show()
}

async function hear(event) {
  const { pet } = { ...event.previous, ...event.data }
  if (pet !== undefined) await learnPets([pet])
  note(event)
  apply(event)
  show(event.id)
}

function apply({ verb, id, data, previous }) {
  if (verb === 'destroyed') visits.delete(id)
  else visits.set(id, { ...previous, ...visits.get(id), ...data })
}

// ---- Showing

function showLine(state, words) {
  $('line').dataset.state = state
  $('line').textContent = words
}

/** All of it, in order. What is there already is changed in place, so that nobody loses what they are typing. */
function show(changed) {
  const ordered = [...visits.values()].sort((a, b) => a.startsAt.localeCompare(b.startsAt) || a.id.localeCompare(b.id))
  for (const [id, row] of rows) {
    if (visits.has(id)) continue
    row.remove()
    rows.delete(id)
  }
  ordered.forEach((visit, index) => {
    const row = rows.get(visit.id) ?? newRow(visit.id)
    fill(row, visit)
    const there = $('visits').children[index]
    if (there !== row) $('visits').insertBefore(row, there ?? null)
    if (visit.id === changed) flash(row)
  })
  for (const status of ['booked', 'done', 'missed']) {
    $(status).textContent = ordered.filter((visit) => visit.status === status).length
  }
  $('empty').hidden = ordered.length > 0 || !isRead
  if (ordered.length === 0 && isRead) offerAnotherDay()
}

function newRow(id) {
  const row = $('visit').content.firstElementChild.cloneNode(true)
  rows.set(id, row)
  row.dataset.id = id
  const change = (values) => attempt(() => ask(`visit/${id}`, 'PATCH', values))
  for (const button of row.querySelectorAll('button[data-status]')) {
    button.addEventListener('click', () => change({ status: button.dataset.status }))
  }
  const reason = row.querySelector('.reason')
  reason.addEventListener('change', () => change({ reason: reason.value }))
  reason.addEventListener('blur', () => fill(row, visits.get(id)))
  reason.addEventListener('keydown', ({ key }) => key === 'Enter' && reason.blur())
  const remove = row.querySelector('.remove')
  remove.addEventListener('click', () => {
    if (remove.classList.contains('sure')) attempt(() => ask(`visit/${id}`, 'DELETE'))
    remove.classList.add('sure')
    remove.textContent = 'Remove?'
  })
  row.addEventListener('mouseleave', () => {
    remove.classList.remove('sure')
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
  part('.kind').textContent = pet ? [pet.species, pet.owner?.name ?? 'a stray'].join(' · ') : ''
  const reason = part('.reason')
  if (document.activeElement !== reason) reason.value = visit.reason
  part('.where').textContent = [vets.get(visit.vet)?.name, rooms.get(visit.room)?.name].filter(Boolean).join(', ')
}

function flash(row) {
  row.classList.remove('fresh')
  void row.offsetWidth // or the animation would not begin again
  row.classList.add('fresh')
}

const words = {
  created: 'is on the list',
  destroyed: 'is off the list',
  booked: 'waits again',
  done: 'was seen',
  missed: 'did not come',
}

function note({ verb, id, data, previous }) {
  const { pet } = { ...visits.get(id), ...previous, ...data }
  const said =
    verb === 'updated' ? (words[data.status] ?? (data.reason && `“${data.reason}”`) ?? 'is changed') : words[verb]
  const line = document.createElement('li')
  const time = document.createElement('time')
  const name = document.createElement('b')
  time.textContent = clockWithSeconds.format(new Date())
  name.textContent = pets.get(pet)?.name ?? 'Somebody'
  line.append(time, name, said)
  $('heard').prepend(line)
  while ($('heard').children.length > 8) $('heard').lastElementChild.remove()
}

async function offerAnotherDay() {
  const [last] = await ask(
    `visit?${filter({ startsAt: { '<': from.toISOString() } })}&sort=startsAt DESC&limit=1&populate=false`,
  )
  if (!last || visits.size > 0) return
  const day = new Date(last.startsAt)
  const link = document.createElement('a')
  link.href = addressOf(day)
  link.textContent = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long' }).format(day)
  $('empty').replaceChildren('Nobody is expected on this day. The last who came, came on ', link, '.')
}

// ---- The form

/** Choices carry the key behind the name, for several animals are called Rex. */
const choiceOf = (pet) => `${pet.name} · ${pet.species} · ${pet.owner?.name ?? 'a stray'} · ${pet.id}`

form.elements.pet.addEventListener('input', async ({ target }) => {
  const name = target.value.trim()
  if (name.length === 0 || name.includes('·')) return
  const found = await ask(`pet?${filter({ name: { startsWith: name } })}&sort=name&limit=12&populate=owner`)
  if (target.value.trim() !== name) return
  $('pets').replaceChildren(
    ...found.map((pet) => {
      pets.set(pet.id, pet)
      const option = document.createElement('option')
      option.value = choiceOf(pet)
      return option
    }),
  )
})

form.addEventListener('submit', (event) => {
  event.preventDefault()
  attempt(async () => {
    const { pet, reason, time, vet } = form.elements
    const choice = [...pets.values()].find((known) => choiceOf(known) === pet.value)
    if (!choice) throw new Error('Choose the animal from the list that appears while you type')
    const [hours, minutes] = time.value.split(':')
    const startsAt = new Date(from)
    startsAt.setHours(hours, minutes)
    const visit = { pet: choice.id, reason: reason.value, startsAt: startsAt.toISOString() }
    await ask('visit?populate=false', 'POST', vet.value === '' ? visit : { ...visit, vet: Number(vet.value) })
    pet.value = ''
    reason.value = ''
    pet.focus()
  })
})

// ---- Beginning

$('day').textContent = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' }).format(from)
$('before').href = addressOf(dayAfter(-1))
$('after').href = addressOf(dayAfter(1))
form.elements.time.value = clock.format(new Date())

await attempt(async () => {
  const [allVets, allRooms] = await Promise.all([
    ask('vet?sort=name&limit=100&populate=false'),
    ask('room?limit=100&populate=false'),
  ])
  for (const vet of allVets) vets.set(vet.id, vet)
  for (const room of allRooms) rooms.set(room.id, room)
})
for (const [id, { name }] of vets) form.elements.vet.append(new Option(name, id))
listen()
