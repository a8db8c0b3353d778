import { get, type Hostile, type HostileRequest, post, several } from './hostile.ts'

const mega = 1_000_000
const body = (type: string, text: string): HostileRequest => ({
  method: 'POST',
  path: '/visit',
  text,
  headers: { 'Content-Type': type },
})
/** As many of these texts as make about 1 MB. */
const repeated = (text: (index: number) => string): string => {
  const count = Math.floor(mega / text(10_000).length)
  return several(count, text).join('')
}
const nested = (open: string, close: string, levels: number) => open.repeat(levels) + close.repeat(levels)
const records = several(25_000, (i) => ({ [`a${i}`]: 1, [`b${i}`]: 1 }))
const lists = nested('[', ']', 30)
/** Bodies that are made once, so that their making takes no processor time during the measurement. */
const wide = {
  names: `{${repeated((i) => `"a${i}":1,`)}"b":1}`,
  numbers: `{"name":[${repeated((i) => `${i},`)}1]}`,
  lists: `{"name":[${repeated(() => `${lists},`)}1]}`,
  escapes: JSON.stringify({ note: repeated(() => '\\u0001"').slice(0, mega / 3) }),
  broken: `{"note":"${'x'.repeat(mega)}`,
  deep: nested('[', ']', mega / 2),
  form: repeated((i) => `a${i}=%41%42&`),
  brackets: repeated((i) => `a[${i}][b][c]=1&`),
  oneValue: `note=${repeated(() => '%C3%A9+')}`,
  elements: `<v>${repeated((i) => `<a${i}>1</a${i}>`)}</v>`,
  attributes: `<v ${repeated((i) => `a${i}="1" `)}/>`,
  entities: `<v><note>${repeated(() => '&#233;&amp;')}</note></v>`,
  levels: `<v>${nested('<a>', '</a>', mega / 7)}</v>`,
  parts: `${repeated((i) => `--b\r\nContent-Disposition: form-data; name="a${i}"\r\n\r\n1\r\n`)}--b--\r\n`,
  dashes: `--b\r\nContent-Disposition: form-data; name="note"\r\n\r\n${repeated(() => '\r\n--')}\r\n--b--\r\n`,
}

const names = `{${several(60_000, (i) => `"b${i}x":1`).join()}}`
const levels = nested('[', ']', mega / 2 - 100)
/** A list whose criteria are in its body. */
const criteria = (given: object): HostileRequest => ({ ...post('/pet', given), method: 'GET' })

const pipelined = (request: string, count: number) => request.repeat(count)
const polled = (text: string): HostileRequest => ({ ...post('', undefined), text })
const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

const chunked = (chunks: string): string =>
  `POST /visit HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`

/** Bodies, headers and bytes whose reading is long. */
export const hostileParsing: readonly Hostile[] = [
  { name: 'JSON of 90,000 names', request: () => body('application/json', wide.names) },
  { name: 'JSON of 50,000 names', request: () => post('/visit', Object.assign({}, ...records)) },
  { name: 'JSON of records with other names each', request: () => post('/visit', records) },
  { name: 'JSON of records with other names each, by socket', over: 'socket', request: () => post('/visit', records) },
  { name: 'JSON of 150,000 numbers', request: () => body('application/json', wide.numbers) },
  { name: 'JSON of 16,000 lists of 30 levels', request: () => body('application/json', wide.lists) },
  { name: 'JSON of escapes', request: () => body('application/json', wide.escapes) },
  { name: 'JSON that breaks off', request: () => body('application/json', wide.broken) },
  { name: 'JSON of 500,000 levels', request: () => body('application/json', wide.deep) },
  { name: 'JSON as text/plain', request: () => body('text/plain', wide.numbers) },
  { name: 'a form of 80,000 values', request: () => body('application/x-www-form-urlencoded', wide.form) },
  { name: 'a form with brackets', request: () => body('application/x-www-form-urlencoded', wide.brackets) },
  { name: 'a form of one value', request: () => body('application/x-www-form-urlencoded', wide.oneValue) },
  { name: 'XML of many elements', request: () => body('application/xml', wide.elements) },
  { name: 'XML of many attributes', request: () => body('application/xml', wide.attributes) },
  { name: 'XML of many entities', request: () => body('application/xml', wide.entities) },
  { name: 'XML of many levels', request: () => body('application/xml', wide.levels) },
  { name: 'many parts', request: () => body('multipart/form-data; boundary=b', wide.parts) },
  { name: 'a part of boundaries', request: () => body('multipart/form-data; boundary=b', wide.dashes) },
  { name: 'a condition as a text of 60,000 names', request: () => criteria({ where: names }) },
  { name: 'a condition as a text of 500,000 levels', request: () => criteria({ where: levels }) },
  { name: 'a part of a condition as a text of 60,000 names', request: () => criteria({ where: { or: names } }) },
  { name: 'populate as a text of 60,000 names', request: () => criteria({ populate: names }) },
  { name: 'populate of 480,000 names', request: () => criteria({ populate: 'a,'.repeat(480_000) }) },
  { name: 'a selection of 190,000 names', request: () => criteria({ select: 'name,'.repeat(190_000) }) },
  { name: 'a sort order of 190,000 names', request: () => criteria({ sort: 'name,'.repeat(190_000) }) },
  {
    name: '1,000,000 entity tags in a message',
    over: 'socket',
    request: () => get('/pet/1', { 'If-None-Match': ','.repeat(mega) }),
  },
  {
    name: '900,000 entity tags in a batch',
    request: () =>
      post('/batch', [{ method: 'GET', url: '/pet/1', headers: { 'If-None-Match': ','.repeat(900_000) } }]),
  },
  { name: 'an address of 16,000 bytes', request: (n) => get(`/pet?${'a'.repeat(8_000)}${n}=${'%41'.repeat(2_500)}`) },
  { name: '2,000 cookies', request: () => get('/pet/1', { Cookie: 'a=b; '.repeat(2_000) }) },
  { name: '3,000 entity tags', request: () => get('/pet/1', { 'If-None-Match': '"a",'.repeat(3_000) }) },
  { name: '900 media types', request: () => get('/pet?limit=1', { Accept: 'text/html;q=0.1,'.repeat(800) }) },
  {
    name: 'lookups in one write',
    over: 'bytes',
    request: () => ({ ...get(''), text: pipelined(head('/pet/1'), 5_000) }),
  },
  {
    name: 'pages in one write',
    over: 'bytes',
    request: () => ({ ...get(''), text: pipelined(head('/pet?limit=1000&populate=false'), 200) }),
  },
  {
    name: 'refusals in one write',
    over: 'bytes',
    request: () => ({ ...get(''), text: pipelined(head(`/pet?sort=${'name,'.repeat(100)}`), 500) }),
  },
  {
    name: 'expectations in one write',
    over: 'bytes',
    request: () => ({ ...get(''), text: pipelined(head('/pet/1').replace(/\r\n$/, 'Expect: more\r\n\r\n'), 5_000) }),
  },
  {
    name: 'halves of bodies',
    over: 'bytes',
    request: () => ({
      ...get(''),
      text: `POST /visit HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${mega}\r\n\r\n${'x'.repeat(mega / 2)}`,
    }),
  },
  {
    name: 'writes in one write',
    over: 'bytes',
    request: () => ({
      ...get(''),
      text: pipelined('POST /visit?cost=1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n', 2_000),
    }),
  },
  {
    name: 'a body in 160,000 chunks',
    over: 'bytes',
    request: () => ({ ...get(''), text: chunked('1\r\nx\r\n'.repeat(160_000)) }),
  },
  {
    name: 'bodies in 10,000 chunks in one write',
    over: 'bytes',
    request: () => ({ ...get(''), text: chunked(`${'1\r\n \r\n'.repeat(9_999)}0\r\n\r\n`).repeat(15) }),
  },
  { name: 'packets of 2 bytes in one poll', over: 'polling', request: () => polled(repeated(() => '2:b4')) },
  { name: 'an endless length in one poll', over: 'polling', request: () => polled(`${'1'.repeat(mega)}:2`) },
  {
    name: '500 refusals in one poll',
    over: 'polling',
    request: (n) => {
      const message = `42${n}["get",{"url":"/pet?sort=${'name,'.repeat(100)}"}]`
      return polled(`${message.length}:${message}`.repeat(500))
    },
  },
  {
    name: 'messages in one poll',
    over: 'polling',
    request: (n) => {
      const message = `42${n}["get",{"url":"/pet/${1 + (n % 1000)}?populate=false&x=${'y'.repeat(400)}"}]`
      return polled(`${message.length}:${message}`.repeat(1_900))
    },
  },
]
