// Three users, each with a socket of its own. All panes run the same code; the access rules make the difference.

import { openSocket } from './socket.js'

const users = [
  { token: 'demo-owner', role: 'Owner', record: 'owner/1' },
  { token: 'demo-vet', role: 'Vet', record: 'vet/1' },
  { token: 'demo-admin', role: 'Admin', record: undefined },
]
const shownPets = 6
/** The largest page of a find. */
const pageSize = 1000

/** Today, or the day of `?day=2026-03-02`. */
const requestedDay = new URLSearchParams(location.search).get('day')
const today = requestedDay === null ? new Date() : new Date(`${requestedDay}T00:00`)
today.setHours(0, 0, 0, 0)
const tomorrow = new Date(today.getFullYear(), today.getMonth(), today.getDate() + 1)
const isToday = ({ startsAt }) => startsAt >= today.toISOString() && startsAt < tomorrow.toISOString()
const ofToday = JSON.stringify({ startsAt: { '>=': today.toISOString(), '<': tomorrow.toISOString() } })
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

function openPane({ token, role, record }) {
  const pane = copyOf('pane')
  const part = (selector) => pane.querySelector(selector)
  pane.dataset.user = token
  part('.role').textContent = role
  document.getElementById('panes').append(pane)

  const records = { visit: new Map(), pet: new Map() }
  const vets = new Map()
  const rows = { visit: new Map(), pet: new Map() }
  const socket = openSocket(token, {
    onConnect: () => attempt(load),
    onLost: () => showConnection('lost', 'reconnecting'),
    onEvent: (model, event) => {
      if (!(model in records)) return
      apply(records[model], event)
      render(event.id)
    },
  })

  // ---- Records

  /** Finds subscribe the socket to what they return, and to new records. */
  async function load() {
    const [name, allVets, visits, pets] = await Promise.all([
      record === undefined ? 'Reception' : get(record, { populate: false }).then(({ name }) => name),
      get('vet', { populate: false, sort: 'name', limit: 100 }),
      get('visit', { populate: false, where: ofToday, limit: pageSize }),
      allPets(),
    ])
    part('h2').textContent = name
    for (const vet of allVets) vets.set(vet.id, vet)
    records.visit = new Map(visits.map((visit) => [visit.id, visit]))
    records.pet = new Map(pets.map((pet) => [pet.id, pet]))
    showConnection('live', 'live')
    render()
  }

  async function allPets(skip = 0) {
    const page = await get('pet', { populate: false, sort: 'id', limit: pageSize, skip })
    return page.length < pageSize ? page : [...page, ...(await allPets(skip + pageSize))]
  }

  async function get(path, parameters) {
    const { body } = await socket.request('get', `/${path}?${new URLSearchParams(parameters)}`)
    return body
  }

  function apply(known, { verb, id, data, previous }) {
    if (verb === 'destroyed') known.delete(id)
    else if (verb === 'created' || verb === 'updated') known.set(id, { ...previous, ...known.get(id), ...data })
  }

  /** A refusal is displayed in the pane of the user that it concerns. */
  async function attempt(action) {
    part('.problem').textContent = ''
    try {
      await action()
    } catch (error) {
      part('.problem').textContent = error.message
      render()
    }
  }
  const update = (path, values) => attempt(() => socket.request('patch', `/${path}`, values))

  // ---- Display

  function showConnection(state, text) {
    part('.connection').dataset.state = state
    part('.connection').textContent = text
  }

  function render(changedId) {
    const visits = [...records.visit.values()].filter(isToday).sort((a, b) => a.startsAt.localeCompare(b.startsAt))
    const pets = [...records.pet.values()].sort((a, b) => a.lost - b.lost || a.name.localeCompare(b.name))
    const inVisits = new Set(visits.map(({ pet }) => pet))
    // First the pets of today's visits, then lost ones.
    const order = ({ id, lost }) => (inVisits.has(id) ? 0 : lost ? 1 : 2)
    pets.sort((a, b) => order(a) - order(b))
    part('[data-of=visits]').textContent = visits.length
    part('[data-of=pets]').textContent = pets.length
    list('visit', visits, fillVisit, changedId)
    list('pet', pets.slice(0, shownPets), fillPet, changedId)
    const more = pets.length - shownPets
    part('.more').textContent = more > 0 ? `and ${more} more` : ''
  }

  /** Updates rows in place, so that a list that is open keeps the focus. */
  function list(kind, shown, fill, changedId) {
    const ids = new Set(shown.map(({ id }) => id))
    for (const [id, row] of rows[kind]) {
      if (ids.has(id)) continue
      row.remove()
      rows[kind].delete(id)
    }
    const container = part(`.${kind}s`)
    shown.forEach((item, index) => {
      const row = rows[kind].get(item.id) ?? createRow(kind, item.id)
      fill(row, item)
      if (container.children[index] !== row) container.insertBefore(row, container.children[index] ?? null)
      if (item.id === changedId) highlight(row)
    })
  }

  function createRow(kind, id) {
    const row = copyOf(kind)
    rows[kind].set(id, row)
    row.querySelector('.status')?.addEventListener('click', () => {
      const isBooked = records.visit.get(id).status === 'booked'
      update(`visit/${id}`, { status: isBooked ? 'done' : 'booked' })
    })
    row.querySelector('select')?.addEventListener('change', ({ target }) => {
      update(`visit/${id}`, { vet: Number(target.value) })
    })
    row.querySelector('.lost')?.addEventListener('click', () => {
      update(`pet/${id}`, { lost: !records.pet.get(id).lost })
    })
    return row
  }

  function fillVisit(row, { startsAt, status, reason, pet, vet }) {
    row.dataset.status = status
    row.querySelector('time').textContent = clock.format(new Date(startsAt))
    row.querySelector('strong').textContent = records.pet.get(pet)?.name ?? `No. ${pet}`
    row.querySelector('.detail').textContent = reason
    row.querySelector('.status').textContent = status === 'booked' ? 'Done' : 'Reopen'
    const select = row.querySelector('select')
    if (select.options.length !== vets.size)
      select.replaceChildren(...[...vets.values()].map(({ id, name }) => new Option(name, id)))
    select.value = vet
  }

  function fillPet(row, { name, species, sex, lost }) {
    row.classList.toggle('is-lost', lost)
    row.querySelector('strong').textContent = name
    row.querySelector('.detail').textContent = [lost && 'lost', sex, species].filter(Boolean).join(' · ')
    row.querySelector('.lost').textContent = lost ? 'Found' : 'Report lost'
  }
}

const copyOf = (id) => document.getElementById(id).content.firstElementChild.cloneNode(true)

function highlight(row) {
  row.classList.remove('changed')
  void row.offsetWidth // restarts the animation
  row.classList.add('changed')
}

for (const user of users) openPane(user)
