/** A required property that no value has: the compiler reports its name, the message, at the value. */
export type CompileError<Message extends string, _Known> = { readonly [Word in Message]: never }

export type UnknownOption<Options, Known> = CompileError<
  `there is no option ${Exclude<Options, Known> & string}`,
  Known
>

/**
 * Reports properties of objects in `Given`, at any depth, that `Shape` does not have. The compiler checks excess
 * properties only where nothing is inferred. Used as an intersection, `Given & Exactly<Shape, Given>`.
 */
export type Exactly<Shape, Given> = Given extends Plain | readonly Plain[]
  ? unknown
  : Given extends readonly unknown[]
    ? { readonly [I in keyof Given]: Exactly<ItemOf<Shape>, Given[I]> }
    : {
        readonly [K in keyof Given]: K extends KeyIn<Shape>
          ? Exactly<MemberOf<Shape, K>, Given[K]>
          : UnknownOption<K, never>
      }

/** Values without members. */
type Plain = string | number | boolean | null | undefined

// The members of a union of shapes.
type ItemOf<Shape> = Shape extends readonly (infer Item)[] ? Item : never
type KeyIn<Shape> = Shape extends Plain | readonly unknown[] ? never : keyof Shape
type MemberOf<Shape, K> = Shape extends Plain | readonly unknown[] ? never : K extends keyof Shape ? Shape[K] : never
