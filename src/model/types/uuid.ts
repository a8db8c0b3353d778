import type { AttributeType } from '../attribute-type.ts'

const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** A UUID of any version, in lower case, which is the form that databases return. */
export const uuid: AttributeType = {
  name: 'uuid',
  noun: 'a UUID',
  storedAs: 'uuid',
  ordered: true,
  parse: (raw) => (typeof raw === 'string' && pattern.test(raw) ? raw.toLowerCase() : undefined),
}
