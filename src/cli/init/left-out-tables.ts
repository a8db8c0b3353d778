import { databaseNameProblem, tableNameProblem } from '../../model/names.ts'

/** Tables in which migration tools record their progress. */
const migrationTables = new Set(
  [
    ['schema_migrations', 'ar_internal_metadata', '_prisma_migrations', '__drizzle_migrations', 'sequelizemeta'],
    ['knex_migrations', 'knex_migrations_lock', 'kysely_migration', 'kysely_migration_lock', 'typeorm_metadata'],
    ['migrations', 'pgmigrations', 'mikro_orm_migrations', 'doctrine_migration_versions', 'phinxlog', 'd1_migrations'],
    ['flyway_schema_history', 'databasechangelog', 'databasechangeloglock', '__efmigrationshistory'],
    ['alembic_version', 'django_migrations', 'goose_db_version', '_sqlx_migrations', '__diesel_schema_migrations'],
  ].flat(),
)

/** Why no model is written for a table of this name; undefined if one is. `isChosen`: it is named on the command line. */
export function leftOutByName(table: string, isChosen: boolean): string | undefined {
  if (/^keelson_/i.test(table)) return 'it belongs to Keelson'
  if (!isChosen && migrationTables.has(table.toLowerCase())) return 'it belongs to a migration tool'
  const problem = databaseNameProblem(table)
  return problem === undefined ? tableNameProblem(table) : `its name ${problem}`
}
