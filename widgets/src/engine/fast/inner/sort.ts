/**
 * `sort` and `toSorted` with V8's order of comparisons, which is visible if a comparator has side effects or is
 * inconsistent.
 *
 * Both engines sort stably. QuickJS therefore sorts primitives without a comparator, because the order is not visible.
 */
import { standIn } from "./mend.ts";
import { mergeSort, timSort } from "./timsort.ts";
import type { Order } from "./timsort.ts";

type Compare = (a: unknown, b: unknown) => unknown;
type List = Record<number, unknown> & { readonly length: unknown };
type Method = (this: unknown, ...args: unknown[]) => unknown;

const { apply, getPrototypeOf } = Reflect;
const MOST = 2 ** 53 - 1;

function numeric(compare: Compare): Order {
  return (a, b) => {
    const order = +(apply(compare, undefined, [a, b]) as number);
    return order !== order ? 0 : order;
  };
}

/** Compares two values by their strings. Each comparison computes the strings again. */
function textual(a: unknown, b: unknown): number {
  const [first, second] = [`${a}`, `${b}`];
  return first < second ? -1 : second < first ? 1 : 0;
}

/** ECMA-262, LengthOfArrayLike. */
function lengthOf(list: List): number {
  const length = +(list.length as number);
  if (!(length > 0)) return 0;
  return length > MOST ? MOST : length - length % 1;
}

const nativeSort = Array.prototype.sort as Method;
const nativeToSorted = Array.prototype.toSorted as Method;

function sortItems(items: unknown[], compare: unknown): void {
  if (typeof compare === "function") {
    timSort(items, numeric(compare as Compare));
    return;
  }
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    if ((typeof item === "object" && item !== null) || typeof item === "function") {
      timSort(items, textual);
      return;
    }
  }
  apply(nativeSort, items, []);
}

/**
 * Returns whether the engine itself must throw, because the value is not an array or the comparator is not a function.
 */
function refused(self: unknown, compare: unknown): boolean {
  return self === undefined || self === null || (compare !== undefined && typeof compare !== "function");
}

/** Methods that are not constructors, like those of the language. */
const ARRAY = {
  sort(this: unknown, ...args: unknown[]): unknown {
    const [compare] = args;
    if (refused(this, compare)) return apply(nativeSort, this, args);
    const list = Object(this) as List;
    const length = lengthOf(list);
    if (length < 2) return list;
    const items: unknown[] = [];
    let undefineds = 0;
    for (let i = 0; i < length; i++) {
      if (!(i in list)) continue;
      const item = list[i];
      if (item === undefined) undefineds++;
      else items[items.length] = item;
    }
    sortItems(items, compare);
    const sorted = items.length;
    for (let i = 0; i < sorted; i++) list[i] = items[i];
    for (let i = sorted; i < sorted + undefineds; i++) list[i] = undefined;
    for (let i = sorted + undefineds; i < length; i++) delete list[i];
    return list;
  },

  /** Sorts a copy, in which holes are undefined (ECMA-262, Array.prototype.toSorted). */
  toSorted(this: unknown, ...args: unknown[]): unknown {
    const [compare] = args;
    const list = Object(this) as List;
    if (refused(this, compare)) return apply(nativeToSorted, this, args);
    const length = lengthOf(list);
    if (length >= 2 ** 32) return apply(nativeToSorted, { length }, []);
    const items: unknown[] = [];
    let undefineds = 0;
    for (let i = 0; i < length; i++) {
      const item = list[i];
      if (item === undefined) undefineds++;
      else items[items.length] = item;
    }
    sortItems(items, compare);
    for (let i = 0; i < undefineds; i++) items[items.length] = undefined;
    return items;
  },
};

// --- typed arrays ---------------------------------------------------------------------------------------------------

const TYPED = getPrototypeOf(Uint8Array.prototype) as Uint8Array;
const nativeTypedSort = TYPED.sort as Method;
const nativeTypedToSorted = TYPED.toSorted as Method;
const typedLength = Object.getOwnPropertyDescriptor(TYPED, "length")!.get!;

function sortTyped(from: List, to: List, compare: Compare): unknown {
  const length = apply(typedLength, from, []) as number;
  const items: unknown[] = [];
  for (let i = 0; i < length; i++) items[i] = from[i];
  mergeSort(items, numeric(compare));
  for (let i = 0; i < length; i++) to[i] = items[i];
  return to;
}

const TYPED_ARRAY = {
  sort(this: unknown, ...args: unknown[]): unknown {
    const [compare] = args;
    if (typeof compare !== "function") return apply(nativeTypedSort, this, args);
    return sortTyped(this as List, this as List, compare as Compare);
  },

  toSorted(this: unknown, ...args: unknown[]): unknown {
    const [compare] = args;
    if (typeof compare !== "function") return apply(nativeTypedToSorted, this, args);
    return sortTyped(this as List, apply(nativeTypedToSorted, this, []) as List, compare as Compare);
  },
};

for (const [owner, methods] of [[Array.prototype, ARRAY], [TYPED, TYPED_ARRAY]] as const) {
  for (const name of ["sort", "toSorted"] as const) {
    const value = methods[name];
    standIn(value);
    Object.defineProperty(value, "length", { value: 1, configurable: true });
    Object.defineProperty(owner, name, { value, writable: true, enumerable: false, configurable: true });
  }
}
