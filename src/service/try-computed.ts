import { matchNone } from '../criteria/criteria.ts'
import { ConfigError } from '../model/config-error.ts'
import type { Attribute, Model, Models } from '../model/model.ts'
import { ServiceError } from '../protocol/errors.ts'
import { DatabaseError } from '../storage/driver.ts'
import type { Store } from '../storage/store.ts'

/**
 * Asks the database once for each computed attribute with an expression, so that one that it does not understand is
 * reported at start. No row is read.
 */
export async function tryComputed(models: Models, store: Store): Promise<void> {
  const problems: string[] = []
  for (const model of models.values()) {
    for (const attribute of model.computed.values()) {
      if (!attribute.computed?.sql) continue
      const problem = await problemOf(model, attribute, store)
      if (problem !== undefined) problems.push(`${model.name}.${attribute.name}: ${problem}`)
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
}

async function problemOf(model: Model, attribute: Attribute, store: Store): Promise<string | undefined> {
  try {
    await store.find(model, {
      where: matchNone,
      sort: [{ attribute, direction: 'asc' }],
      limit: 1,
      skip: 0,
      select: [model.primaryKey],
    })
    return undefined
  } catch (error) {
    const cause = error instanceof ServiceError && error.status === 503 ? error.cause : error
    const isRefused = cause instanceof DatabaseError && cause.reason.kind === 'refused'
    // The database is busy or gone: that tells nothing of the expression.
    if (cause !== error && !isRefused) throw error
    return `the database does not accept its \`sql\`: ${cause instanceof Error ? cause.message : cause}`
  }
}
