// A socket of one user: requests with answers, and events. It uses the protocol of Socket.IO, without its client.

/** Connects, and connects again when the connection ends. `onConnect` reads everything anew, `onEvent` applies a change. */
export function openSocket(token, { onConnect, onEvent, onLost }) {
  const url = `${location.origin.replace(/^http/, 'ws')}/socket.io/?EIO=4&transport=websocket&token=${token}`
  const answers = new Map()
  let socket
  let sent = 0

  function connect() {
    socket = new WebSocket(url)
    socket.addEventListener('message', ({ data }) => receive(data))
    socket.addEventListener('close', () => {
      for (const { reject } of answers.values()) reject(new Error('The connection was lost'))
      answers.clear()
      onLost()
      setTimeout(connect, 500)
    })
  }

  function receive(text) {
    const [, type, id, content] = /^(0|2|4\d)(\d*)(.*)$/s.exec(text) ?? []
    if (type === '0')
      socket.send('40') // the session is open: connect
    else if (type === '2')
      socket.send('3') // a heartbeat
    else if (type === '40') onConnect()
    else if (type === '42') onEvent(...JSON.parse(content))
    else if (type === '43') settle(Number(id), JSON.parse(content)[0])
  }

  function settle(id, { statusCode, body, headers }) {
    const { resolve, reject } = answers.get(id)
    answers.delete(id)
    if (statusCode < 400) resolve({ body, headers })
    else reject(new Error(body.detail ?? body.title))
  }

  connect()
  return {
    /** Resolves with the body of the response. Rejects with the message of a problem document. */
    request(method, path, data) {
      if (socket.readyState !== WebSocket.OPEN) return Promise.reject(new Error('The connection was lost'))
      const { promise, resolve, reject } = Promise.withResolvers()
      answers.set(++sent, { resolve, reject })
      socket.send(`42${sent}${JSON.stringify([method, { url: path, data }])}`)
      return promise
    },
  }
}
