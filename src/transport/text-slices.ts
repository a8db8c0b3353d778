/** A longer text is sent in slices as fast as the client reads, so that its bytes are not in memory a second time. */
export const sliceLength = 65_536

/** Slices that end between two characters: half a surrogate pair has no encoding. */
export function* textSlices(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const to = from + sliceLength
    const end = isHighSurrogate(text.charCodeAt(to - 1)) ? to - 1 : to
    yield text.slice(from, end)
    from = end
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff
