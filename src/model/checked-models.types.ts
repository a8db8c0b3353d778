/*
 * Slips of the pen in models, as the compiler sees them.
 */
import { declare } from './clinic.types.ts'

declare({
  models: {
    ok: { attributes: { self: { model: 'ok' }, many: { collection: 'ok', via: 'self' }, link: { model: 'wrong' } } },
    wrong: {
      attributes: {
        // @ts-expect-error no such word
        a: { type: 'string', requird: true },
        // @ts-expect-error no such model
        b: { model: 'okk' },
        // @ts-expect-error no such model
        c: { collection: 'okk', via: 'self' },
        // @ts-expect-error no such attribute in `ok`
        d: { collection: 'ok', via: 'slef' },
        e: { collection: 'ok', through: 'link', via: 'whatever the link says' },
        f: { collection: 'ok', via: 'link' },
      },
    },
    // @ts-expect-error no such word
    other: { tabelName: 'others', attributes: {} },
  },
})
declare({
  // @ts-expect-error no such type
  models: { pet: { attributes: { name: { type: 'text' } } } },
})
