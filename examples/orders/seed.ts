/** What the seed needs of the records of a model. */
interface Table<Values> {
  count(options: { where: { name: string } }): Promise<number>
  create(values: Values): Promise<unknown>
}
interface Shop {
  readonly customer: Table<{ id: number; name: string; email: string }>
  readonly product: Table<{ name: string; price: number; stock: number }>
}

const customers = [
  { id: 1, name: 'Ann', email: 'ann@example.com' },
  { id: 2, name: 'Bob', email: 'bob@example.com' },
]
const products = [
  { name: 'Lamp', price: 30, stock: 10 },
  { name: 'Desk', price: 200, stock: 3 },
  { name: 'Chair', price: 80, stock: 12 },
]

/** Called once for a new database; again after an interruption, when a part of the records exists. */
export async function seed({ system: { records } }: { readonly system: { readonly records: Shop } }): Promise<void> {
  const { customer, product } = records
  for (const values of customers)
    if ((await customer.count({ where: { name: values.name } })) === 0) await customer.create(values)
  for (const values of products)
    if ((await product.count({ where: { name: values.name } })) === 0) await product.create(values)
}
