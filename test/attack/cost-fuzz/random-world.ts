import type { ModelDefinitions } from '../../../src/index.ts'
import { defineModels } from '../../../src/model/define.ts'
import type { Model } from '../../../src/model/model.ts'
import type { Random } from '../../support/random.ts'
import type { Shape, World } from './world.ts'

/** A kind of key: as a value, and as SQL of a number. */
interface KeyKind {
  readonly attribute: object
  readonly key: (number: number) => number | string
  readonly sql: (number: string) => string
}

const counted = { type: 'number', autoIncrement: true }
const keyKinds: readonly KeyKind[] = [
  { attribute: counted, key: (number) => number, sql: (number) => number },
  // As of programs that give each of several databases a key of their own.
  { attribute: counted, key: (number) => number * 16 + 1, sql: (number) => `(${number}) * 16 + 1` },
  {
    attribute: { type: 'string', isUUID: true, columnType: 'text' },
    key: (number) => `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`,
    sql: (number) => `'00000000-0000-7000-8000-' || substr(cast(1000000000000 + (${number}) as text), 2)`,
  },
]

/** How values are spread: over all, over a few, or almost all of them one. */
const texts = {
  name: `'a ' || n`,
  kind: `'kind ' || (n % 5)`,
  state: `case n % 1000 when 0 then 'open' else 'same' end`,
}
const numbers = { rank: 'n', level: 'n % 10', stock: 'case n % 100 when 0 then n end' }
const plain: Readonly<Record<string, string>> = { ...texts, ...numbers }

/** To which record number `n` refers: one that has almost all, those of a tree, or each in turn. */
const spreads = ['case n % 10 when 0 then n / 10 + 1 else 1 end', 'n / 3 + 1', '1 + n % 16', '1 + n % 1000']

/** Two to four models with associations among them and with themselves, and with any indexes. */
export function randomWorld(random: Random): World {
  const names = ['a', 'b', 'c', 'd'].slice(0, 2 + random.below(3))
  const kinds = new Map(names.map((name) => [name, random.pick(keyKinds)]))
  const models: Record<string, { attributes: Record<string, object>; indexes: string[][] }> = {}
  const shapes: Record<string, Shape & { one: [string, string][]; many: [string, string][] }> = {}
  for (const name of names) {
    const { attribute, key } = kinds.get(name) as KeyKind
    const values = Object.keys(plain).map((value) => [
      value,
      { ...(value in texts ? { type: 'string' } : { type: 'number', isInteger: true }), index: random.chance(0.5) },
    ])
    const indexes = Array.from({ length: random.below(3) }, () => [
      random.pick(Object.keys(texts)),
      `${random.pick(Object.keys(numbers))}${random.chance(0.5) ? ' DESC' : ''}`,
    ])
    models[name] = { attributes: { id: attribute, ...Object.fromEntries(values) }, indexes }
    shapes[name] = { key, texts: Object.keys(texts), numbers: Object.keys(numbers), one: [], many: [] }
  }
  const add = (name: string, association: string, definition: object) =>
    Object.assign(models[name]?.attributes as object, { [association]: definition })
  const columns = new Map<string, [string, string][]>(names.map((name) => [name, []]))
  for (let count = 0; count < names.length + 1; count++) {
    const [from, to] = [random.pick(names), random.pick(names)]
    const [near, far] = [`to${count}`, `of${count}`]
    shapes[to]?.many.push([far, from])
    add(to, far, { collection: from, via: near })
    if (random.chance(0.7)) {
      add(from, near, { model: to })
      shapes[from]?.one.push([near, to])
      columns.get(from)?.push([near, (kinds.get(to) as KeyKind).sql(random.pick(spreads))])
    } else {
      add(from, near, { collection: to, via: far })
      shapes[from]?.many.push([near, to])
    }
  }
  const definitions = models as ModelDefinitions
  const keyOf = (model: Model, number: string) => (kinds.get(model.name) as KeyKind).sql(number)
  return {
    models: definitions,
    shapes,
    main: 'a',
    fill: (rows, numbersTo) => [
      ...names.map((name) => {
        const given = [
          ['id', (kinds.get(name) as KeyKind).sql('n')],
          ...Object.entries(plain),
          ...(columns.get(name) ?? []),
        ]
        const values = given.map(([, value]) => value)
        return `insert into "${name}" (${given.map(([column]) => `"${column}"`)}) select ${values} from ${numbersTo(rows)}`
      }),
      ...[...defineModels(definitions).values()].flatMap((model) =>
        [...model.associations.values()].flatMap((association) => {
          if (association.kind !== 'manyToMany' || association.near.column > association.far.column) return []
          const { junction, near, far, target } = association
          const [own, other] = [keyOf(model, random.pick(spreads)), keyOf(target, 'n')]
          return `insert into "${junction.table}" ("${near.column}", "${far.column}") select ${own}, ${other} from ${numbersTo(rows)}`
        }),
      ),
    ],
  }
}
