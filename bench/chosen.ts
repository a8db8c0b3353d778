import { fail, print } from './print.ts'

export const databaseKinds = ['sqlite', 'postgres'] as const
export type DatabaseKind = (typeof databaseKinds)[number]

/** The server whose databases are measured; undefined where PostgreSQL is left out. */
export const postgresUrl = process.env.KEELSON_TEST_POSTGRES || undefined

/** What `--database` names: one kind, or `all` that can be measured here. Ends the process for any other name. */
export function chosenDatabases(name: string): readonly DatabaseKind[] {
  if (name !== 'all') {
    const chosen = databaseKinds.find((kind) => kind === name)
    if (!chosen) return fail(`--database is ${databaseKinds.join(', ')} or all, not ${name}`)
    if (chosen === 'postgres' && postgresUrl === undefined) return fail('KEELSON_TEST_POSTGRES names no server')
    return [chosen]
  }
  if (postgresUrl !== undefined) return databaseKinds
  print('PostgreSQL is left out: KEELSON_TEST_POSTGRES names no server')
  return ['sqlite']
}

/** The names in `--only`, and all where it is absent. Ends the process for a name that is not among them. */
export function chosenNames(only: string | undefined, all: readonly string[]): readonly string[] {
  const names = only?.split(',') ?? all
  const unknown = names.filter((name) => !all.includes(name))
  return unknown.length > 0 ? fail(`There is no ${unknown.join(', ')}; there are ${all.join(', ')}`) : names
}

/** Those whose names contain a part of `--only`, which has semicolons between its parts. Ends the process for a part in no name. */
export function chosenByParts<T extends { readonly name: string }>(only: string, all: readonly T[]): readonly T[] {
  const parts = only.split(';')
  const unknown = parts.find((part) => !all.some(({ name }) => name.includes(part)))
  if (unknown !== undefined)
    return fail(`There is no name with "${unknown}" in it; there are ${all.map(({ name }) => name).join('; ')}`)
  return all.filter(({ name }) => parts.some((part) => name.includes(part)))
}
