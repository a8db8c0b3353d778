import alpha from 'validator/lib/isAlpha.js'
import alphanumeric from 'validator/lib/isAlphanumeric.js'
import creditCard from 'validator/lib/isCreditCard.js'
import email from 'validator/lib/isEmail.js'
import hexadecimal from 'validator/lib/isHexadecimal.js'
import hexColor from 'validator/lib/isHexColor.js'
import ip from 'validator/lib/isIP.js'
import numeric from 'validator/lib/isNumeric.js'
import url from 'validator/lib/isURL.js'
import uuid from 'validator/lib/isUUID.js'

/** The functions of the library that are used. To load all of it takes a tenth of a second. */
export const validator = {
  isAlpha: alpha.default,
  isAlphanumeric: alphanumeric.default,
  isCreditCard: creditCard.default,
  isEmail: email.default,
  isHexColor: hexColor.default,
  isHexadecimal: hexadecimal.default,
  isIP: ip.default,
  isNumeric: numeric.default,
  isURL: url.default,
  isUUID: uuid.default,
}
