/** Tells whether tables have changed since they were read, without reading them again. */
export interface TableVersions {
  /**
   * A text that differs from an earlier one if any program has committed a change of one of the tables in between. To be asked
   * before the tables are read. It means nothing outside of this process. Undefined: that cannot be told now.
   */
  of(tables: readonly string[]): string | undefined
}
