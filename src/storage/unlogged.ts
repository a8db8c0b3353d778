/** Why a start with `migrate: 'safe'` captures no changes. */
export const unlogged = {
  none: 'the database has no change log, and migrate: "safe" adds none',
  lacks: (tables: readonly string[]) =>
    `the change log lacks ${[...new Set(tables)].join(', ')}, and migrate: "safe" adds nothing to it`,
  copied: 'the change log is of another database, of which this one is a copy, and migrate: "safe" begins none',
  policed: (tables: readonly string[]) =>
    `row-level security of ${[...new Set(tables)].join(', ')} applies to the role of the service, and the change log contains all rows`,
} as const
