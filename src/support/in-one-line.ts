/** An error that a log writes as one line: where it was found explains nothing. */
export function inOneLine<E extends Error>(error: E): E {
  error.stack = `${error.name}: ${error.message}`
  return error
}
