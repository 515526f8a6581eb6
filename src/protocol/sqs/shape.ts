/**
 * The shape of each action's request as a value, which the compiler derives from the SDK's own types: a member that
 * is missing here, misspelt or of another type does not compile. Both decoders, json/ and query/, read requests by
 * these shapes, so that actions get exactly the SDK's types.
 */

export type Shape =
  | 'string'
  | 'integer'
  /** Base64 on the wire, bytes in an action. */
  | 'blob'
  | { readonly list: Shape }
  | { readonly map: Shape }
  /** A map of strings whose values may also come as JSON numbers and booleans, as AWS takes queue attributes. */
  | { readonly textMap: true }
  | { readonly members: Readonly<Record<string, Shape>> };

/**
 * The shape of values of type `T`. The SDK has maps keyed by a closed list of names, which no type tells from a
 * structure; those are read as maps, since a name that is not in the list must be refused and not overlooked.
 */
export type ShapeOf<T> = [T] extends [string]
  ? 'string'
  : [T] extends [number]
    ? 'integer'
    : [T] extends [Uint8Array]
      ? 'blob'
      : [T] extends [readonly (infer Element)[]]
        ? { readonly list: ShapeOf<Element> }
        : StructureShape<T> | MapShape<NonNullable<T[keyof T]>>;

type MapShape<Value> =
  | { readonly map: ShapeOf<Value> }
  | ([Value] extends [string] ? { readonly textMap: true } : never);

export interface StructureShape<T> {
  readonly members: { readonly [Name in keyof T]-?: ShapeOf<NonNullable<T[Name]>> };
}

/**
 * What an action can say of its answer: the SDK's type with bytes as the base64 text that goes over the wire, and every
 * member optional, since answers leave out what is empty also where the SDK's type says required (SQS.md section 1).
 */
export type Answer<T> = T extends Uint8Array
  ? string
  : T extends readonly (infer Element)[]
    ? readonly Answer<Element>[]
    : T extends object
      ? { readonly [Name in keyof T]?: Answer<T[Name]> }
      : T;
