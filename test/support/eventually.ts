const pauseMs = 10
const longestMs = 60_000

/** Calls `look` until it returns something. The limit only ends a test that would wait for ever, with an error that names `what`. */
export async function eventually<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  what = String(look),
): Promise<T> {
  for (const end = performance.now() + longestMs; performance.now() < end; ) {
    const found = await look()
    if (found !== undefined && found !== false) return found
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  throw new Error(`This never became true: ${what}`)
}
