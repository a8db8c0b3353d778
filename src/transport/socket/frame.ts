const finalText = 0x81

/** A text as one unmasked WebSocket frame. A frame for many sockets is encoded once. */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text)
  const start = headerLength(length)
  const frame = Buffer.allocUnsafe(start + length)
  writeHeader(frame, length)
  frame.write(text, start)
  return frame
}

/** What precedes a text of so many bytes. */
export function textFrameHeader(length: number): Buffer {
  const header = Buffer.allocUnsafe(headerLength(length))
  writeHeader(header, length)
  return header
}

const headerLength = (length: number): number => (length < 126 ? 2 : length < 65_536 ? 4 : 10)

function writeHeader(frame: Buffer, length: number): void {
  frame[0] = finalText
  if (length < 126) frame[1] = length
  else if (length < 65_536) {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 127
    frame.writeUInt32BE(0, 2) // a string is never as long as 4 GB
    frame.writeUInt32BE(length, 6)
  }
}
