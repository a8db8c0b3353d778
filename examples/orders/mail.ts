import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { job } from 'keelson'

/** Mails are files here. */
const folder = process.env.MAIL_FOLDER ?? join(import.meta.dirname, 'data/mail')

export interface Order {
  readonly id: number
  readonly customer: number
  readonly state: string
  readonly total: number
}

/**
 * Runs after the commit of an order, at least once: when the process is killed meanwhile, the next one runs it again. The id
 * of the event is the same then, and the mail is the same file.
 */
export const orderMail = job<Order>('orderMail', async (order, { event, system }) => {
  const customer = await system.records.customer.findOne(order.customer)
  if (!customer) return
  const text =
    order.state === 'cancelled'
      ? `Your order ${order.id} is cancelled.`
      : `Thank you for your order ${order.id} of ${order.total} euros.`
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, `${event.eventId}.txt`), `To: ${customer.email}\n\nDear ${customer.name},\n${text}\n`)
})
