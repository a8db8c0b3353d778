import { EncodedJson } from '../../protocol/json.ts'
import type { ServiceResponse } from '../../protocol/request.ts'

/**
 * The script that `sails.io.js` loads on pages of other sites before it connects. Sets no cookie, because there are no
 * sessions. The client only waits until the script has run.
 */
export const cookieScript: { readonly path: string; readonly response: ServiceResponse } = {
  path: '/__getcookie',
  response: {
    status: 200,
    headers: { 'Content-Type': 'application/javascript; charset=utf-8', 'Cache-Control': 'no-store' },
    body: new EncodedJson('_sailsIoJSConnect();'),
  },
}
