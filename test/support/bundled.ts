import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

interface BundleOptions {
  readonly minify?: boolean
  readonly external?: string[]
  readonly define?: Record<string, string>
}

/** A module for browsers of the text, whose imports are relative to the sources, and of what it imports. */
export async function bundled(
  text: string,
  { minify = false, external = [], define = {} }: BundleOptions,
): Promise<string> {
  const entry = fileURLToPath(new URL('../../src/bundled.ts', import.meta.url))
  const bundle = await rolldown({
    input: entry,
    platform: 'browser',
    tsconfig: false,
    external,
    transform: { target: 'es2022', define },
    plugins: [
      { name: 'entry', resolveId: (id) => (id === entry ? id : null), load: (id) => (id === entry ? text : null) },
    ],
  })
  const { output } = await bundle.generate({ format: 'esm', minify, codeSplitting: false })
  return output[0].code
}
