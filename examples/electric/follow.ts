import { Shape, ShapeStream } from '@electric-sql/client'

// Prints the booked visits of the clinic example whenever one changes. Start the clinic with `shapes: '/v1/shape'`.
const stream = new ShapeStream({
  url: 'http://localhost:1337/v1/shape',
  params: { table: 'visit', where: JSON.stringify({ status: 'booked' }) },
  headers: { Authorization: 'Bearer demo-admin' },
  liveSse: true,
})
new Shape(stream).subscribe(({ rows }) => console.log(rows.map(({ startsAt, reason }) => `${startsAt} ${reason}`)))
