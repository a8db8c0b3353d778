import type { AttributeType } from '../attribute-type.ts'

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** In lower case, as every database prints it. Of any version: which ones are wise is not for us to say. */
export const uuid: AttributeType = {
  name: 'uuid',
  noun: 'a UUID',
  storedAs: 'uuid',
  ordered: true,
  parse: (raw) => (typeof raw === 'string' && form.test(raw) ? raw.toLowerCase() : undefined),
}
