/** Nobody has a property of this name, so the compiler reports it, in words, where it is missing. */
export type Mistake<Message extends string, _Known = unknown> = { readonly [Word in Message]: never }

/**
 * Objects in `Given`, at any depth, that hold more than `Shape` knows become mistakes. The compiler itself looks for
 * that only where nothing is inferred. To be written as an intersection, `Given & Exactly<Shape, Given>`.
 */
export type Exactly<Shape, Given> = Given extends readonly unknown[]
  ? { readonly [I in keyof Given]: Exactly<Item<Shape>, Given[I]> }
  : Given extends object
    ? { readonly [K in keyof Given]: K extends Word<Shape> ? Exactly<Member<Shape, K>, Given[K]> : Unknown<K> }
    : unknown

type Unknown<K> = Mistake<`there is no word ${K & string}`>

// What a union of shapes knows.
type Item<Shape> = Shape extends readonly (infer T)[] ? T : never
type Word<Shape> = Shape extends readonly unknown[] ? never : Shape extends object ? keyof Shape : never
type Member<Shape, K> = Shape extends readonly unknown[] ? never : K extends keyof Shape ? Shape[K] : never
