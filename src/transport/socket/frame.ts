const finalText = 0x81

/** A text as one WebSocket frame of a server: whoever has many to send it to makes it once. */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text)
  const start = length < 126 ? 2 : length < 65_536 ? 4 : 10
  const frame = Buffer.allocUnsafe(start + length)
  frame[0] = finalText
  if (start === 2) frame[1] = length
  else if (start === 4) {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 127
    frame.writeUInt32BE(0, 2) // no text of a program reaches 4 GB
    frame.writeUInt32BE(length, 6)
  }
  frame.write(text, start)
  return frame
}
