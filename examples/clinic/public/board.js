// A board of the visits of one day. Each lane is a live query; all of them share one connection. Moving a card is an
// optimistic write: it is displayed at once, and in every other window as soon as it is stored. What is changed without a
// connection waits in the outbox, and is merged with the changes of others when the connection is back.

import { createClient } from './keelson.js'

// Signed in as the admin.
// biome-ignore lint/suspicious/noDocumentCookie: a page without https has no cookie store
document.cookie = 'clinic=demo-admin; Path=/; SameSite=Strict'

const $ = (id) => document.getElementById(id)
const lanes = [
  { status: 'booked', title: 'Booked' },
  { status: 'done', title: 'Done' },
  { status: 'missed', title: 'Missed' },
]

// The displayed day, from midnight to midnight in the time zone of the browser.
const requestedDay = new URLSearchParams(location.search).get('day')
const from = requestedDay === null ? new Date() : new Date(`${requestedDay}T00:00`)
from.setHours(0, 0, 0, 0)
const dayAfter = (days) => new Date(from.getFullYear(), from.getMonth(), from.getDate() + days)
const isOnDay = { startsAt: { '>=': from.toISOString(), '<': dayAfter(1).toISOString() } }
const linkTo = (day) => `?day=${new Intl.DateTimeFormat('sv-SE').format(day)}`
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })

const api = createClient({ outbox: { storage: sessionStorage, onConflict: askWhichVersion } })

const optimistic = { optimistic: true }

/** Changes a visit. A refusal is displayed; the card is already back where it was. */
async function change(id, values) {
  try {
    await api.visit.update(id, values, optimistic)
  } catch (error) {
    if (error.status !== 412) $('problem').textContent = error.message
  }
}

/** Two windows changed the same: resolves with the values to write, or with undefined to keep those of the other window. */
function askWhichVersion({ values }, theirs) {
  const dialog = $('conflict')
  const [mine, other] = dialog.querySelectorAll('button')
  const names = Object.keys(values)
  mine.querySelector('b').textContent = names.map((name) => values[name]).join(', ')
  other.querySelector('b').textContent = names.map((name) => theirs?.[name] ?? '–').join(', ')
  dialog.showModal()
  return new Promise((resolve) => {
    dialog.onclick = ({ target }) => {
      const button = target.closest('button')
      if (button) dialog.close(button.value)
    }
    dialog.onclose = () => resolve(dialog.returnValue === 'mine' ? values : undefined)
  })
}

// ---- Lanes

for (const [index, lane] of lanes.entries()) {
  const section = $('lane').content.cloneNode(true).firstElementChild
  section.dataset.status = lane.status
  section.querySelector('.title').textContent = lane.title
  $('lanes').append(section)

  const list = section.querySelector('ol')
  const cards = new Map()
  lane.visits = api.visit.live({
    where: { status: lane.status, ...isOnDay },
    sort: 'startsAt',
    limit: 200,
    populate: {
      pet: { select: ['name', 'species'], populate: { owner: { select: ['name'] } } },
      vet: true,
      room: true,
    },
  })
  const render = () => {
    const { rows } = lane.visits
    section.querySelector('.count').textContent = rows.length
    const kept = new Set(rows.map(({ id }) => id))
    for (const [id, card] of cards) if (!kept.has(id)) cards.delete(id) && card.element.remove()
    rows.forEach((visit, place) => {
      const card = cards.get(visit.id) ?? newCard(visit.id, index)
      cards.set(visit.id, card)
      card.show(visit)
      if (list.children[place] !== card.element) list.insertBefore(card.element, list.children[place] ?? null)
    })
    showConnection()
  }
  lane.visits.subscribe(render)
  render()

  section.addEventListener('dragover', (event) => {
    event.preventDefault()
    section.classList.add('target')
  })
  section.addEventListener('dragleave', (event) => {
    if (!section.contains(event.relatedTarget)) section.classList.remove('target')
  })
  section.addEventListener('drop', (event) => {
    event.preventDefault()
    section.classList.remove('target')
    const [id, status] = event.dataTransfer.getData('text/plain').split(' ')
    if (status !== lane.status) void change(id, { status: lane.status })
  })
}

function newCard(id, lane) {
  const element = $('card').content.cloneNode(true).firstElementChild
  const part = (selector) => element.querySelector(selector)
  const reason = part('.reason')
  let shown
  element.addEventListener('dragstart', (event) => {
    event.dataTransfer.setData('text/plain', `${id} ${lanes[lane].status}`)
    element.classList.add('dragged')
  })
  element.addEventListener('dragend', () => element.classList.remove('dragged'))
  const move = (by) => lanes[lane + by] && void change(id, { status: lanes[lane + by].status })
  part('.back').disabled = lane === 0
  part('.on').disabled = lane === lanes.length - 1
  part('.back').onclick = () => move(-1)
  part('.on').onclick = () => move(1)
  reason.addEventListener('keydown', ({ key }) => (key === 'Enter' || key === 'Escape') && reason.blur())
  reason.addEventListener('change', () => {
    const text = reason.value.trim()
    if (text !== shown?.reason) void change(id, { reason: text })
  })
  return {
    element,
    show(visit) {
      if (visit === shown) return
      shown = visit
      element.dataset.id = visit.id
      part('time').textContent = clock.format(new Date(visit.startsAt))
      part('.room').textContent = visit.room?.name ?? ''
      part('.pet strong').textContent = visit.pet.name
      part('.pet span').textContent = [visit.pet.species, visit.pet.owner?.name].filter(Boolean).join(' · ')
      part('.vet').textContent = visit.vet?.name ?? 'any vet'
      if (document.activeElement !== reason) reason.value = visit.reason
    },
  }
}

// ---- The line at the top

function showConnection() {
  const states = lanes.map(({ visits }) => visits?.status ?? 'catching-up')
  const state = ['offline', 'catching-up'].find((one) => states.includes(one)) ?? 'live'
  const { size } = api.outbox
  const waiting = size === 0 ? '' : ` · ${size} ${size === 1 ? 'change' : 'changes'} waiting`
  $('connection').dataset.state = state === 'offline' ? 'lost' : state
  $('connection').textContent = state === 'catching-up' ? 'connecting' : state + (state === 'offline' ? waiting : '')
}
api.outbox.subscribe(showConnection)

const isToday = dayAfter(0).toDateString() === new Date().toDateString()
const dayText = new Intl.DateTimeFormat('en-GB', { weekday: 'long', day: 'numeric', month: 'long' })
$('day').textContent = isToday ? `Today, ${dayText.format(from)}` : dayText.format(from)
$('previous').href = linkTo(dayAfter(-1))
$('next').href = linkTo(dayAfter(1))
