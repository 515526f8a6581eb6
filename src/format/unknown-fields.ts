/**
 * Fields that a newer node wrote and this one does not know are kept (DESIGN.md section 2). Those of the manifest
 * itself ride in `QueueState.unknownFields`; those of an entry ride on the decoded entry under a symbol, so that
 * `{ ...entry, change }` keeps them and nothing else sees them.
 *
 * Not kept: fields inside an attribute, a tag or a delayed message, which are decoded to plain map entries. A new
 * fact about those needs a field of the manifest.
 */
import type { Message, UnknownField } from '@bufbuild/protobuf';

const key: unique symbol = Symbol('okuri.unknownFields');

interface Carrier {
  readonly [key]?: readonly UnknownField[];
}

export function unknownFieldsOf(entry: object): readonly UnknownField[] | undefined {
  return (entry as Carrier)[key];
}

export function withUnknownFields<T extends object>(
  entry: T,
  fields: readonly UnknownField[] | undefined,
): T {
  return fields === undefined || fields.length === 0 ? entry : { ...entry, [key]: fields };
}

/** The same for what the generated code writes. */
export function withUnknown<T extends Message>(stored: T, entry: object): T {
  const fields = unknownFieldsOf(entry);
  if (fields !== undefined) stored.$unknown = [...fields];
  return stored;
}
