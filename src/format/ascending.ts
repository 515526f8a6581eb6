/** Keys in ascending order. A map that was changed in place of order is rare, so sorting is tried only then. */
export function ascending(map: ReadonlyMap<number, unknown>): readonly number[] {
  const keys = [...map.keys()];
  for (let i = 1; i < keys.length; i += 1) if (keys[i]! < keys[i - 1]!) return keys.sort((a, b) => a - b);
  return keys;
}
