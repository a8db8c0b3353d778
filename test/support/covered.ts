const named = process.env.KEELSON_TEST_DATABASES?.split(',')

/** Whether tests that run on every database run on this one. */
export const isCovered = (database: string): boolean => named?.includes(database) ?? true
