import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

/*
 * The cost of inferring records in an application of realistic size, and the mistakes that it reports. The cases are in
 * `src/model/record-of.types.ts`.
 */

const root = fileURLToPath(new URL('../..', import.meta.url))
const compiler = join(root, 'node_modules/typescript/bin/tsc')
const workshop = join(realpathSync(tmpdir()), 'types-')
/** The import specifier of the application; the compiler needs relative paths. */
const source = (file: string): string => join(relative(workshop, root), 'src', file)

/**
 * Instantiations: work that the compiler counts. It grows with what is evaluated for each attribute and each call, and does
 * not depend on the machine. Of 200 models of 15 attributes alone 211,000 when it was last changed, and with 2,000 calls 1.28 million.
 */
const budgets = [
  { name: 'none of them used', max: 217_000, lines: () => registry(200) },
  {
    name: 'each used once',
    max: 1_300_000,
    lines: () => [...registry(200), ...indexes(200).flatMap((index) => calls(index, 200))],
  },
]

for (const { name, max, lines } of budgets)
  test(`200 models of 15 attributes and a hook, ${name}, compile`, (t) => {
    const { errors, onError } = compile(lines())
    assert.deepEqual(errors, [])
    const instantiations = Number(/Instantiations: +(\d+)/.exec(onError)?.[1])
    assert.ok(instantiations < max, `${instantiations} instantiations`)
    t.diagnostic(
      `200 models: ${/Check time: +(\S+)/.exec(onError)?.[1]} of checking, ${/Memory used: +(\S+)/.exec(onError)?.[1]}`,
    )
  })

test('mistakes in calls are reported on their lines, and nothing else', () => {
  const lines = [...registry(20), ...indexes(20).flatMap((index) => [...calls(index, 20), ...wrongCalls(index, 20)])]
  const { errors } = compile(lines)
  assert.deepEqual(errors, marked(lines))
  assert.equal(errors.length, 20 * 2 * 19)
})

test('mistakes in models are reported on their lines, and nothing else', () => {
  const lines = registry(20, wrongAttributes)
  const { errors } = compile(lines)
  assert.deepEqual(errors, marked(lines))
  assert.equal(errors.length, 20 * 5)
})

function indexes(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index)
}

/** The configuration of the application: `count` models that refer to each other, and uses of the inferred types. */
function registry(count: number, more: (index: number) => string[] = () => []): string[] {
  return [
    `import type { CheckedConfig, InferredAttributes, InferredModels, ModelsOf } from '${source('service/config/checked-config.ts')}'`,
    `import type { Records } from '${source('model/inference/records-of.ts')}'`,
    `import { createClient } from '${source('client.ts')}'`,
    'declare function serve<const M extends InferredModels, const S extends InferredAttributes | undefined, U, L>(',
    'config: CheckedConfig<M, S, U, undefined, L>): { models: M; records: Records<ModelsOf<M>> }',
    "declare const users: Record<string, { id: number; role: 'vet' | 'owner' }>",
    "const auth = { identify: () => users['ann'] ?? null }",
    'export const service = serve({ auth, models: {',
    ...indexes(count).flatMap((index) => [
      `m${index}: { access: { read: ({ user }) => user !== null && { other: user.id }, create: 'vet' }, attributes: {`,
      ...attributes(index, count),
      ...more(index),
      '}, hooks: { before: { update: (values, { user }) => ({ ...values, by: user?.role }) } } },',
    ]),
    '} })',
    'export const { records } = service',
    'export const api = createClient<typeof service>()',
  ]
}

const attributes = (index: number, count: number): string[] => [
  `title: { type: 'string', computed: ['name${index}'], get: ({ name${index} }) => name${index}, sql: ({ name${index} }) => name${index} },`,
  `name${index}: { type: 'string', required: true, maxLength: 80 },`,
  `kind: { type: 'string', isIn: ['cat', 'dog', 'k${index}'], defaultsTo: 'cat' },`,
  "email: { type: 'string', isEmail: true, unique: true },",
  "chip: { type: 'string', required: true, allowNull: true },",
  "weight: { type: 'number', min: 0 },",
  "age: { type: 'number', required: true },",
  "isWild: { type: 'boolean', defaultsTo: false },",
  "seenAt: { type: 'datetime' },",
  "steps: { type: 'bigint' },",
  "prefs: { type: 'json' },",
  "origin: { type: 'ref', columnType: 'varchar(80)' },",
  `next: { model: 'm${after(index, count)}' },`,
  `other: { model: 'm${other(index, count)}', required: true },`,
  `previous: { collection: 'm${before(index, count)}', via: 'next' },`,
]

// The model that each one refers to.
const after = (index: number, count: number): number => (index + 1) % count
const before = (index: number, count: number): number => (index + count - 1) % count
const other = (index: number, count: number): number => (index * 7 + 3) % count

const wrongAttributes = (index: number): string[] => [
  "requird: { type: 'string', requird: true }, // wrong",
  `toOne: { model: 'n${index}' }, // wrong`,
  `toMany: { collection: 'n${index}', via: 'next' }, // wrong`,
  `via: { collection: 'm${index}', via: 'nxt' }, // wrong`,
  "secret: { type: 'string', access: { read: ({ user }) => user?.nme === 'x' } }, // wrong",
]

const calls = (index: number, count: number): string[] =>
  ['records', 'api'].flatMap((source) => callsOf(source, index, count))

/** Uses of the records in the same process, or of those of the client. */
const callsOf = (source: string, index: number, count: number): string[] => [
  `export async function ${source}Use${index}(): Promise<[string, number | null, 'cat' | 'dog' | 'k${index}', string | undefined]> {`,
  `const records${index} = ${source}.m${index}`,
  `const { data } = await records${index}.find({`,
  `where: { name${index}: { startsWith: 'a' }, weight: { '>': 3 }, next: 1, or: [{ isWild: true }, { kind: ['cat', 'k${index}'] }] },`,
  `sort: ['name${index} DESC', { age: 'ASC' }],`,
  `select: ['name${index}', 'kind', 'next'],`,
  '})',
  `const { data: whole } = await records${index}.find({`,
  `where: { previous: { isWild: true, name${before(index, count)}: { contains: 'a' } }, next: { age: { '<': 3 } } },`,
  `sort: 'next.name${after(index, count)} DESC',`,
  `populate: { previous: { where: { age: 3 }, sort: 'age', populate: ['other'] }, next: { select: ['name${after(index, count)}'] } },`,
  '})',
  `const deep = whole[0]?.previous[0]?.other?.name${other(before(index, count), count)} ?? whole[0]?.next?.name${after(index, count)}`,
  `const { id } = await records${index}.create({ name${index}: 'x', age: 3, chip: null, other: 1, previous: [1, 2] })`,
  `const { weight, kind } = await records${index}.update(id, { weight: null, previous: [] })`,
  `return [data[0]?.name${index} ?? '', weight, kind, deep]`,
  '}',
]

const wrongCalls = (index: number, count: number): string[] =>
  ['records', 'api'].flatMap((source) => wrongCallsOf(source, index, count))

const wrongCallsOf = (source: string, index: number, count: number): string[] => [
  `export async function ${source}Misuse${index}() {`,
  `const records${index} = ${source}.m${index}`,
  `await records${index}.find({ where: { nme: 'x' } }) // wrong`,
  `await records${index}.find({ where: { name${index}: 'x', or: [{ nme: 'x' }] } }) // wrong`,
  `await records${index}.find({ where: { name${index}: { startWith: 'x' } } }) // wrong`,
  `await records${index}.find({ where: { kind: 'k' } }) // wrong`,
  `await records${index}.find({ where: { previous: { age: 3, nme: 'x' } } }) // wrong`,
  `await records${index}.find({ where: { next: { age: 3, nme: 'x' } } }) // wrong`,
  `await records${index}.find({ sort: 'name DESC' }) // wrong`,
  `await records${index}.find({ sort: 'next.name${index} DESC' }) // wrong`,
  `await records${index}.find({ select: ['name${index}', 'previous'] }) // wrong`,
  `await records${index}.find({ populate: ['previous', 'prev'] }) // wrong`,
  `await records${index}.find({ populate: { previous: { populate: ['previous', 'prev'] } } }) // wrong`,
  `await records${index}.find({ populate: { previous: { where: { age: 3, nme: 'x' } } } }) // wrong`,
  `const { data } = await records${index}.find({ select: ['kind'], populate: { next: { select: ['kind'] } } })`,
  'data[0]?.weight // wrong',
  'data[0]?.next?.weight // wrong',
  `await records${index}.create({ name${index}: 'x', age: 3, chip: null }) // wrong`,
  `await records${index}.update(1, { age: null }) // wrong`,
  `await records${index}.update('1', {}) // wrong`,
  `await records${index}.add(1, 'next', 2) // wrong`,
  `await records${index}.add(${after(index, count)}, 'previous', 'x') // wrong`,
  '}',
]

/** The numbers of the lines marked as wrong. */
function marked(lines: readonly string[]): number[] {
  return lines.flatMap((line, index) => (line.endsWith('// wrong') ? [index + 1] : []))
}

/** The line number of each error, in order, and the compiler's diagnostics. */
function compile(lines: readonly string[]): { readonly errors: readonly number[]; readonly onError: string } {
  const folder = mkdtempSync(workshop)
  try {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(folder, 'app.ts'), lines.join('\n'))
    const settings = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions: { types: ['node'], typeRoots: [join(root, 'node_modules/@types')] },
      files: ['app.ts'],
      include: [],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
    const words = [compiler, '--project', folder, '--pretty', 'false', '--extendedDiagnostics']
    const { stdout, stderr, error } = spawnSync(process.execPath, words, {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
      cwd: folder,
    })
    assert.equal(error, undefined)
    assert.equal(stderr, '')
    const found = stdout.split('\n').filter((line) => / error TS\d+: /.test(line))
    return { errors: found.map(lineOf).sort((a, b) => a - b), onError: stdout }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function lineOf(message: string): number {
  const place = /^app\.ts\((\d+),/.exec(message)
  assert.ok(place, message)
  return Number(place[1])
}
