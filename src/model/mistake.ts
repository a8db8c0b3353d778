/** Nobody has a property of this name, so the compiler reports it, in words, where it is missing. */
export type Mistake<Message extends string, _Known> = { readonly [Word in Message]: never }

export type UnknownWord<Words, Known> = Mistake<`there is no word ${Exclude<Words, Known> & string}`, Known>

/**
 * Whatever objects in `Given`, at any depth, say that `Shape` does not know is a mistake. The compiler itself looks
 * for that only where nothing is inferred. To be written as an intersection, `Given & Exactly<Shape, Given>`.
 */
export type Exactly<Shape, Given> = Given extends Plain | readonly Plain[]
  ? unknown
  : Given extends readonly unknown[]
    ? { readonly [I in keyof Given]: Exactly<ItemOf<Shape>, Given[I]> }
    : {
        readonly [K in keyof Given]: K extends WordOf<Shape>
          ? Exactly<MemberOf<Shape, K>, Given[K]>
          : UnknownWord<K, never>
      }

/** Nothing is inside these. */
type Plain = string | number | boolean | null | undefined

// What a union of shapes knows.
type ItemOf<Shape> = Shape extends readonly (infer Item)[] ? Item : never
type WordOf<Shape> = Shape extends Plain | readonly unknown[] ? never : keyof Shape
type MemberOf<Shape, K> = Shape extends Plain | readonly unknown[] ? never : K extends keyof Shape ? Shape[K] : never
