/**
 * TimSort (Tim Peters, CPython's `listsort.txt`) with V8's parameters. This code makes the same comparisons as V8 in the
 * same order, so comparators with side effects and inconsistent comparators have the same result.
 */

/** Comparator. The result is negative if the first item comes before the second, and never NaN. */
export type Order = (a: unknown, b: unknown) => number;

// Parameters of V8, which the language does not specify. The algorithm does not search shorter lists for runs. A run
// has at least half of `WHOLE` items. After `GALLOP` consecutive items from one run, the merge starts to gallop.
const NO_RUNS = 16;
const WHOLE = 64;
const GALLOP = 7;

/** Minimum length of each run: from half of `WHOLE` to `WHOLE`, in a sequence that balances the merges. */
class Shortest {
  readonly #length: number;
  readonly #halvings: number;
  #carried = 0;

  constructor(length: number) {
    this.#length = length;
    let halvings = 0;
    while (length >> halvings >= WHOLE) halvings++;
    this.#halvings = halvings;
  }

  next(): number {
    const sum = this.#carried + this.#length;
    const whole = sum >> this.#halvings;
    this.#carried = sum - (whole << this.#halvings);
    return whole;
  }
}

function move(from: unknown[], at: number, to: unknown[], into: number, count: number): void {
  if (into <= at) { for (let i = 0; i < count; i++) to[into + i] = from[at + i]; }
  else for (let i = count - 1; i >= 0; i--) to[into + i] = from[at + i];
}

class TimSort {
  readonly #items: unknown[];
  readonly #order: Order;
  /** Start positions and lengths of the unmerged runs. */
  readonly #starts: number[] = [];
  readonly #lengths: number[] = [];
  readonly #powers: number[] = [];
  #gallop = GALLOP;

  constructor(items: unknown[], order: Order) {
    this.#items = items;
    this.#order = order;
  }

  sort(): void {
    const { length } = this.#items;
    if (length < 2) return;
    if (length < NO_RUNS) {
      this.#insert(0, 1, length);
      return;
    }
    const lengths = new Shortest(length);
    for (let low = 0; low < length;) {
      let run = this.#run(low, length);
      const shortest = lengths.next();
      if (run < shortest) {
        const forced = length - low < shortest ? length - low : shortest;
        this.#insert(low, low + run, low + forced);
        run = forced;
      }
      this.#push(low, run);
      low += run;
    }
    while (this.#starts.length > 1) this.#merge(this.#smallerNeighbour());
  }

  /** Returns the length of the run that begins at `low`. Reverses a strictly descending run. */
  #run(low: number, high: number): number {
    const items = this.#items;
    if (low + 1 === high) return 1;
    const falls = this.#order(items[low + 1], items[low]) < 0;
    let end = low + 2;
    while (end < high && this.#order(items[end], items[end - 1]) < 0 === falls) end++;
    if (falls) {
      for (let left = low, right = end - 1; left < right; left++, right--) {
        const item = items[left];
        items[left] = items[right];
        items[right] = item;
      }
    }
    return end - low;
  }

  /** Binary insertion sort. The items from `low` to `start` are already sorted. */
  #insert(low: number, start: number, high: number): void {
    const items = this.#items;
    for (let next = start; next < high; next++) {
      const pivot = items[next];
      let left = low;
      let right = next;
      while (left < right) {
        const middle = left + ((right - left) >> 1);
        if (this.#order(pivot, items[middle]) < 0) right = middle;
        else left = middle + 1;
      }
      for (let i = next; i > left; i--) items[i] = items[i - 1];
      items[left] = pivot;
    }
  }

  /** Merges all runs with a deeper boundary in the merge tree, and then adds a run to the stack. */
  #push(start: number, length: number): void {
    const powers = this.#powers;
    if (this.#starts.length > 0) {
      const power = this.#power(length);
      while (this.#starts.length > 1 && powers[this.#starts.length - 2]! > power) this.#merge(this.#starts.length - 2);
      powers[this.#starts.length - 1] = power;
    }
    const depth = this.#starts.length;
    this.#starts[depth] = start;
    this.#lengths[depth] = length;
  }

  /** Returns the depth of the boundary between the top run and the next run (Powersort, Munro and Wild, 2018). */
  #power(length: number): number {
    const top = this.#starts.length - 1;
    const total = this.#items.length;
    // Twice the midpoints of both runs. The loop compares their binary fractions of the total bit by bit.
    let a = 2 * this.#starts[top]! + this.#lengths[top]!;
    let b = a + this.#lengths[top]! + length;
    for (let power = 1;; power++) {
      if (a >= total) {
        a -= total;
        b -= total;
      } else if (b >= total) {
        return power;
      }
      a *= 2;
      b *= 2;
    }
  }

  #smallerNeighbour(): number {
    const lengths = this.#lengths;
    const n = lengths.length - 2;
    return n > 0 && lengths[n - 1]! < lengths[n + 1]! ? n - 1 : n;
  }

  /** Merges a run on the stack with the run above it. */
  #merge(n: number): void {
    const items = this.#items;
    const starts = this.#starts;
    const lengths = this.#lengths;
    let left = starts[n]!;
    let leftCount = lengths[n]!;
    const right = starts[n + 1]!;
    let rightCount = lengths[n + 1]!;
    lengths[n] = leftCount + rightCount;
    const last = starts.length - 1;
    for (let i = n + 1; i < last; i++) {
      starts[i] = starts[i + 1]!;
      lengths[i] = lengths[i + 1]!;
    }
    starts.length = last;
    lengths.length = last;
    // Do not move items at both ends that are already in position.
    const skipped = this.#after(items, items[right], left, leftCount, 0);
    left += skipped;
    leftCount -= skipped;
    if (leftCount === 0) return;
    rightCount = this.#before(items, items[left + leftCount - 1], right, rightCount, rightCount - 1);
    if (rightCount === 0) return;
    if (leftCount <= rightCount) this.#mergeUp(left, leftCount, right, rightCount);
    else this.#mergeDown(left, leftCount, right, rightCount);
  }

  /** Returns how many of `count` items from `base` are less than `key`. Gallops from `hint`. */
  #before(list: unknown[], key: unknown, base: number, count: number, hint: number): number {
    const above = this.#order(list[base + hint], key) < 0;
    const most = above ? count - hint : hint + 1;
    const sign = above ? 1 : -1;
    let [near, far] = [0, 1];
    while (far < most && this.#order(list[base + hint + sign * far], key) < 0 === above) {
      near = far;
      far = 2 * far + 1;
    }
    if (far > most) far = most;
    let [low, high] = above ? [hint + near, hint + far] : [hint - far, hint - near];
    for (low++; low < high;) {
      const middle = low + ((high - low) >> 1);
      if (this.#order(list[base + middle], key) < 0) low = middle + 1;
      else high = middle;
    }
    return high;
  }

  /** Like `#before`, but also counts equal items. */
  #after(list: unknown[], key: unknown, base: number, count: number, hint: number): number {
    const below = this.#order(key, list[base + hint]) < 0;
    const most = below ? hint + 1 : count - hint;
    const sign = below ? -1 : 1;
    let [near, far] = [0, 1];
    while (far < most && this.#order(key, list[base + hint + sign * far]) < 0 === below) {
      near = far;
      far = 2 * far + 1;
    }
    if (far > most) far = most;
    let [low, high] = below ? [hint - far, hint - near] : [hint + near, hint + far];
    for (low++; low < high;) {
      const middle = low + ((high - low) >> 1);
      if (this.#order(key, list[base + middle]) < 0) high = middle;
      else low = middle + 1;
    }
    return high;
  }

  /** Merges from the left, after it has copied the left run, which is the shorter one. */
  #mergeUp(left: number, leftCount: number, right: number, rightCount: number): void {
    const items = this.#items;
    const aside: unknown[] = [];
    move(items, left, aside, 0, leftCount);
    let to = left;
    let a = 0;
    let b = right;
    let [aLeft, bLeft] = [leftCount, rightCount];
    items[to++] = items[b++];
    bLeft--;
    while (bLeft > 0 && aLeft > 1) {
      let [aWins, bWins] = [0, 0];
      while (bLeft > 0 && aLeft > 1 && aWins < this.#gallop && bWins < this.#gallop) {
        if (this.#order(items[b], aside[a]) < 0) {
          items[to++] = items[b++];
          bLeft--;
          bWins++;
          aWins = 0;
        } else {
          items[to++] = aside[a++];
          aLeft--;
          aWins++;
          bWins = 0;
        }
      }
      if (bLeft === 0 || aLeft === 1) break;
      this.#gallop++;
      do {
        this.#gallop = this.#gallop > 2 ? this.#gallop - 1 : 1;
        aWins = this.#after(aside, items[b], a, aLeft, 0);
        move(aside, a, items, to, aWins);
        to += aWins;
        a += aWins;
        aLeft -= aWins;
        if (aWins > 0 && aLeft <= 1) break; // no item is left only if the comparator is inconsistent
        items[to++] = items[b++];
        if (--bLeft === 0) break;
        bWins = this.#before(items, aside[a], b, bLeft, 0);
        move(items, b, items, to, bWins);
        to += bWins;
        b += bWins;
        bLeft -= bWins;
        if (bWins > 0 && bLeft === 0) break;
        items[to++] = aside[a++];
        if (--aLeft === 1) break;
      } while (aWins >= GALLOP || bWins >= GALLOP);
      if (bLeft === 0 || aLeft <= 1) break;
      this.#gallop++;
    }
    if (bLeft > 0 && aLeft === 1) {
      move(items, b, items, to, bLeft);
      items[to + bLeft] = aside[a];
    } else {
      move(aside, a, items, to, aLeft);
    }
  }

  /** Merges from the right, after it has copied the right run, which is the shorter one. */
  #mergeDown(left: number, leftCount: number, right: number, rightCount: number): void {
    const items = this.#items;
    const aside: unknown[] = [];
    move(items, right, aside, 0, rightCount);
    let to = right + rightCount - 1;
    let a = left + leftCount - 1;
    let b = rightCount - 1;
    let [aLeft, bLeft] = [leftCount, rightCount];
    items[to--] = items[a--];
    aLeft--;
    while (aLeft > 0 && bLeft > 1) {
      let [aWins, bWins] = [0, 0];
      while (aLeft > 0 && bLeft > 1 && aWins < this.#gallop && bWins < this.#gallop) {
        if (this.#order(aside[b], items[a]) < 0) {
          items[to--] = items[a--];
          aLeft--;
          aWins++;
          bWins = 0;
        } else {
          items[to--] = aside[b--];
          bLeft--;
          bWins++;
          aWins = 0;
        }
      }
      if (aLeft === 0 || bLeft === 1) break;
      this.#gallop++;
      do {
        this.#gallop = this.#gallop > 2 ? this.#gallop - 1 : 1;
        aWins = aLeft - this.#after(items, aside[b], left, aLeft, aLeft - 1);
        to -= aWins;
        a -= aWins;
        move(items, a + 1, items, to + 1, aWins);
        aLeft -= aWins;
        if (aWins > 0 && aLeft === 0) break;
        items[to--] = aside[b--];
        if (--bLeft === 1) break;
        bWins = bLeft - this.#before(aside, items[a], 0, bLeft, bLeft - 1);
        to -= bWins;
        b -= bWins;
        move(aside, b + 1, items, to + 1, bWins);
        bLeft -= bWins;
        if (bWins > 0 && bLeft <= 1) break; // no item is left only if the comparator is inconsistent
        items[to--] = items[a--];
        if (--aLeft === 0) break;
      } while (aWins >= GALLOP || bWins >= GALLOP);
      if (aLeft === 0 || bLeft <= 1) break;
      this.#gallop++;
    }
    if (aLeft > 0 && bLeft === 1) {
      to -= aLeft;
      a -= aLeft;
      move(items, a + 1, items, to + 1, aLeft);
      items[to] = aside[b];
    } else {
      move(aside, 0, items, to - bLeft + 1, bLeft);
    }
  }
}

/** Sorts in place. */
export function timSort(items: unknown[], order: Order): void {
  new TimSort(items, order).sort();
}

/** Sorts in place with a top-down merge sort, as V8 does with typed arrays. */
export function mergeSort(items: unknown[], order: Order): void {
  const other: unknown[] = [];
  move(items, 0, other, 0, items.length);
  mergeHalves(other, items, 0, items.length, order);
}

/** Sorts a range into `to`. Both lists contain the same items in that range. */
function mergeHalves(from: unknown[], to: unknown[], start: number, end: number, order: Order): void {
  if (end - start < 2) return;
  const middle = start + ((end - start) >> 1);
  mergeHalves(to, from, start, middle, order);
  mergeHalves(to, from, middle, end, order);
  let [left, right] = [start, middle];
  for (let i = start; i < end; i++) {
    const leftNext = left < middle && (right >= end || order(from[left], from[right]) <= 0);
    to[i] = leftNext ? from[left++] : from[right++];
  }
}
