/*
 * Compile errors of wrong models.
 */
import { declare } from './clinic.types.ts'

declare({
  models: {
    ok: { attributes: { self: { model: 'ok' }, many: { collection: 'ok', via: 'self' }, link: { model: 'wrong' } } },
    wrong: {
      attributes: {
        // @ts-expect-error no such option
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
    indexed: {
      attributes: { kind: { type: 'string' }, owner: { model: 'ok' }, many: { collection: 'ok' } },
      indexes: [
        ['kind', 'createdAt DESC'],
        { attributes: ['owner', 'kind ASC'], unique: true, where: { kind: null } },
        // @ts-expect-error no such attribute
        ['kimd'],
        // @ts-expect-error no such direction
        ['kind DOWN'],
        // @ts-expect-error a to-many association has no column
        ['many'],
        // @ts-expect-error no such attribute
        { attributes: ['kimd'] },
      ],
    },
    // @ts-expect-error no such option
    other: { tabelName: 'others', attributes: {} },
  },
})
declare({
  // @ts-expect-error no such type
  models: { pet: { attributes: { name: { type: 'text' } } } },
})
