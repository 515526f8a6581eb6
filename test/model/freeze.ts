/** Makes any change of a state an exception: objects and arrays are frozen, maps lose their writing methods. */

const frozen = new WeakSet<object>();

export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || frozen.has(value) || ArrayBuffer.isView(value))
    return value;
  frozen.add(value);
  if (value instanceof Map) {
    for (const [key, entry] of value) {
      deepFreeze(key);
      deepFreeze(entry);
    }
    for (const method of ['set', 'delete', 'clear'] as const)
      Object.defineProperty(value, method, {
        value: () => {
          throw new Error(`${method} on a map that belongs to a state`);
        },
      });
    return value;
  }
  for (const key of Reflect.ownKeys(value)) deepFreeze((value as Record<PropertyKey, unknown>)[key]);
  return Object.freeze(value);
}
