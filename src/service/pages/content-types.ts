import { lookup } from 'mrmime'

const bytes = 'application/octet-stream'

/** The Content-Type of a file by its extension, which begins with a dot. */
export function contentTypeOf(extension: string): string {
  const type = extension === '' ? bytes : (lookup(extension) ?? bytes)
  return isText(type) ? `${type}; charset=utf-8` : type
}

const isText = (type: string): boolean => /^text\/|\/(?:json|xml|javascript)$|\+(?:json|xml)$/.test(type)

/** Whether files of a Content-Type become much smaller: images, fonts and archives are compressed already. */
export const isCompressible = (type: string): boolean => type.endsWith('charset=utf-8') || type === 'application/wasm'
