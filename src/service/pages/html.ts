/** Markup in which every interpolated text is escaped. */
export interface Html {
  readonly markup: string
}

type Item = Html | string | number | readonly Html[]

export function html(strings: TemplateStringsArray, ...items: readonly Item[]): Html {
  return {
    markup: strings.map((text, index) => (index === 0 ? text : markupOf(items[index - 1] as Item) + text)).join(''),
  }
}

function markupOf(item: Item): string {
  if (typeof item === 'string' || typeof item === 'number') return escaped(String(item))
  return 'markup' in item ? item.markup : item.map(({ markup }) => markup).join('')
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] as string)
