/** Defines interfaces on the global object as browsers do. */

export function define(values: Readonly<Record<string, unknown>>, enumerable = false): void {
  for (const name of Object.keys(values)) {
    const value = values[name];
    if (typeof value === "function" && value.prototype !== undefined) {
      for (const key of Object.getOwnPropertyNames(value.prototype)) {
        if (key === "constructor") continue;
        const member = Object.getOwnPropertyDescriptor(value.prototype, key)!;
        Object.defineProperty(value.prototype, key, { ...member, enumerable: true });
      }
      Object.defineProperty(value.prototype, Symbol.toStringTag, { value: name, configurable: true });
    }
    Object.defineProperty(globalThis, name, { value, writable: true, enumerable, configurable: true });
  }
}
