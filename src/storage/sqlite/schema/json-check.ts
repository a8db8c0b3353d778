/** The check of a quoted column. `json_valid(null)` is false before SQLite 3.45, which other programs may use. */
export const jsonCheck = (column: string): string => `check (${column} is null or json_valid(${column}))`

/** The check that earlier versions created. */
export const jsonCheckWithoutNull = (column: string): string => `check (json_valid(${column}))`
