import { EncodedJson } from '../../protocol/json.ts'
import type { Service, ServiceResponse } from '../../protocol/request.ts'
import { refusals } from './refuse.ts'

/**
 * A service in front of which the addresses of sockets are answered: to clients that try another transport, that there
 * is none; and the script that browser clients on other sites load before they connect.
 */
export const beside = (service: Service, path: string): Service => ({
  handle(request) {
    if (request.path.startsWith(path) && ['', '/'].includes(request.path.charAt(path.length))) {
      const asksForWebSocket = /(?:^|&)transport=websocket(?:&|$)/.test(request.query)
      return asksForWebSocket ? refusals.handshake : refusals.transport
    }
    if (request.path === '/__getcookie' && ['GET', 'HEAD'].includes(request.method)) return cookieScript
    return service.handle(request)
  },
})

/** Sets no cookie: there is no session to remember. The client only waits for it to run. */
const cookieScript: ServiceResponse = {
  status: 200,
  headers: { 'Content-Type': 'application/javascript; charset=utf-8', 'Cache-Control': 'no-store' },
  body: new EncodedJson('_sailsIoJSConnect();'),
}
