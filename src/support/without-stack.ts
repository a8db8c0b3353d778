/** Removes the stack from an error, so that a log writes it as one line: the stack explains nothing here. */
export function withoutStack<E extends Error>(error: E): E {
  error.stack = `${error.name}: ${error.message}`
  return error
}
