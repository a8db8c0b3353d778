/** The folder of this package, found by its name: the published files are joined from many and keep no folders. */
export const packageFolder = new URL('./', import.meta.resolve('keelson/package.json'))

/** False in the published package, which contains the compiled files only. */
export const isSource = import.meta.url.endsWith('.ts')

/** The URL of an entry point or a program such as `index` or `cli/main`. */
export const programUrl = (name: string): URL => new URL(isSource ? `src/${name}.ts` : `dist/${name}.js`, packageFolder)
