import assert from 'node:assert/strict'

export interface PollingOptions {
  readonly version?: 3 | 4
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** An Engine.IO client on HTTP long polling that sends packets as given. Each poll is started by the test. */
export class RawPolling implements AsyncDisposable {
  readonly url: string
  readonly version: 3 | 4
  readonly sid: string
  /** The content of the open packet. */
  readonly handshake: Readonly<Record<string, unknown>>
  readonly #headers: Readonly<Record<string, string>>
  readonly #received: string[] = []

  private constructor(
    url: string,
    version: 3 | 4,
    headers: Readonly<Record<string, string>>,
    first: readonly string[],
  ) {
    this.version = version
    this.#headers = headers
    this.handshake = JSON.parse((first[0] as string).slice(1))
    this.sid = this.handshake.sid as string
    this.url = `${url}&sid=${this.sid}`
    this.#received.push(...first.slice(1))
  }

  static async open(base: string, { version = 4, path = '/socket.io/', headers = {} }: PollingOptions = {}) {
    const url = `${base}${path}?EIO=${version}&transport=polling`
    const response = await fetch(url, { headers })
    const text = await response.text()
    assert.equal(response.status, 200, text)
    return new RawPolling(url, version, headers, decode(text, version))
  }

  /** Opens a session and connects it to the main namespace. */
  static async connect(base: string, options: PollingOptions = {}): Promise<RawPolling> {
    const polling = await RawPolling.open(base, options)
    if (polling.version === 4) await polling.post('40')
    await polling.until((packet) => packet.startsWith('40'))
    return polling
  }

  request(init: RequestInit = {}): Promise<Response> {
    return fetch(this.url, { ...init, headers: { ...this.#headers, ...(init.headers as Record<string, string>) } })
  }

  /** Sends packets in one request. */
  async post(...packets: readonly string[]): Promise<void> {
    const response = await this.request({ method: 'POST', body: encode(packets, this.version) })
    assert.deepEqual([response.status, await response.text()], [200, 'ok'])
  }

  /** The packets of one poll. */
  async poll(): Promise<readonly string[]> {
    const response = await this.request()
    const text = await response.text()
    assert.equal(response.status, 200, text)
    return decode(text, this.version)
  }

  /** Polls until a packet satisfies the predicate, and removes it. */
  async until(predicate: (packet: string) => boolean): Promise<string> {
    for (;;) {
      const index = this.#received.findIndex(predicate)
      if (index !== -1) return this.#received.splice(index, 1)[0] as string
      this.#received.push(...(await this.poll()))
    }
  }

  /** Sends an event and resolves with its acknowledgement. */
  async ask(
    event: string,
    argument: unknown,
    ack = 1,
  ): Promise<{ readonly statusCode: number; readonly body?: never }> {
    await this.post(`42${ack}${JSON.stringify([event, argument])}`)
    const packet = await this.until((packet) => packet.startsWith(`43${ack}[`))
    return JSON.parse(packet.slice(packet.indexOf('[')))[0]
  }

  /** Closes the session, if it is still open. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.request({ method: 'POST', body: encode(['1'], this.version) })
  }
}

const separator = '\x1e'

const encode = (packets: readonly string[], version: 3 | 4): string =>
  version === 4 ? packets.join(separator) : packets.map((packet) => `${packet.length}:${packet}`).join('')

function decode(text: string, version: 3 | 4): string[] {
  if (version === 4) return text.split(separator)
  const packets: string[] = []
  for (let rest = text; rest !== ''; ) {
    const colon = rest.indexOf(':')
    const end = colon + 1 + Number(rest.slice(0, colon))
    packets.push(rest.slice(colon + 1, end))
    rest = rest.slice(end)
  }
  return packets
}
