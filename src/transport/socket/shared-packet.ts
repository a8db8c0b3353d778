import { textFrame } from './frame.ts'
import { messagePacket } from './packet.ts'

/** A Socket.IO packet for any number of receivers: its text, and its WebSocket frame, which is encoded once. */
export class SharedPacket {
  readonly text: string
  #frame: Buffer | undefined

  constructor(text: string) {
    this.text = text
  }

  get frame(): Buffer {
    this.#frame ??= textFrame(messagePacket(this.text))
    return this.#frame
  }
}
