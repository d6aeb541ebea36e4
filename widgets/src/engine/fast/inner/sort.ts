/**
 * `sort` with V8's order of comparisons, which shows when a comparator has effects or makes no sense.
 *
 * Both engines sort stably, so a sensible comparator leads to one result. Up to 63 items V8's algorithm (TimSort) is an
 * insertion sort by halving, up to 15 items from the start; longer arrays are sorted as QuickJS does, unless the comparator answers booleans, the usual
 * mistake.
 */
import { trap } from "./host.ts";

type Compare = (a: unknown, b: unknown) => unknown;

const SHORT = 64;
const NO_RUNS = 16;
const { apply } = Reflect;
const nativeSort = Array.prototype.sort;

/** Sorts items in place as TimSort does while they are a single run. */
function insertionSort(items: unknown[], compare: (a: unknown, b: unknown) => number): void {
  const { length } = items;
  const sorted = length < NO_RUNS ? 1 : firstRun(items, compare);
  for (let start = sorted; start < length; start++) {
    let left = 0;
    let right = start;
    const pivot = items[start];
    while (left < right) {
      const middle = left + ((right - left) >> 1);
      if (compare(pivot, items[middle]) < 0) right = middle;
      else left = middle + 1;
    }
    for (let i = start; i > left; i--) items[i] = items[i - 1];
    items[left] = pivot;
  }
}

/** How many items stand in order from the start; a falling run is turned round. */
function firstRun(items: unknown[], compare: (a: unknown, b: unknown) => number): number {
  const { length } = items;
  let sorted = 2;
  let order = compare(items[1], items[0]);
  const descending = order < 0;
  let previous = items[1];
  for (let i = 2; i < length; i++) {
    order = compare(items[i], previous);
    if (descending ? order >= 0 : order < 0) break;
    previous = items[i];
    sorted++;
  }
  if (descending) {
    for (let low = 0, high = sorted - 1; low < high; low++, high--) {
      const item = items[low];
      items[low] = items[high];
      items[high] = item;
    }
  }
  return sorted;
}

function numeric(compare: Compare): (a: unknown, b: unknown) => number {
  return (a, b) => {
    const order = +(apply(compare, undefined, [a, b]) as number);
    return order !== order ? 0 : order;
  };
}

function sort(this: unknown[], ...args: [compare?: Compare]): unknown[] {
  const [compare] = args;
  if (typeof compare !== "function") return apply(nativeSort, this, args) as unknown[];
  const length = this.length >>> 0;
  if (length >= SHORT) {
    const checked: Compare = (a, b) => {
      const order = apply(compare, undefined, [a, b]);
      return typeof order === "boolean" ? trap("a comparator of a long array that answers a boolean") : order;
    };
    return apply(nativeSort, this, [checked]) as unknown[];
  }
  const items: unknown[] = [];
  let undefineds = 0;
  for (let i = 0; i < length; i++) {
    if (!(i in this)) continue;
    if (this[i] === undefined) undefineds++;
    else items[items.length] = this[i];
  }
  insertionSort(items, numeric(compare));
  for (let i = 0; i < undefineds; i++) items[items.length] = undefined;
  for (let i = 0; i < items.length; i++) this[i] = items[i];
  for (let i = items.length; i < length; i++) delete this[i];
  return this;
}

/** Sorts a copy, holes read as undefined (ECMA-262, Array.prototype.toSorted). */
function toSorted(this: unknown[], ...args: [compare?: Compare]): unknown[] {
  const copy: unknown[] = [];
  for (let i = 0; i < this.length; i++) copy[i] = this[i];
  return apply(sort, copy, args) as unknown[];
}

for (const [name, value] of [["sort", sort], ["toSorted", toSorted]] as const) {
  Object.defineProperty(value, "length", { value: 1, configurable: true });
  const member = Object.getOwnPropertyDescriptor(Array.prototype, name)!;
  Object.defineProperty(Array.prototype, name, { ...member, value });
}
