/** Tests of the byte difference between two texts. */
import { equal } from "./fake.ts";
import { changeBetween, visible } from "../src/lib/change.ts";

function told(older: string, newer: string): unknown {
  const change = changeBetween(older, newer);
  if (!change) return null;
  const { byte, line, removed, added, removedBytes, addedBytes } = change;
  return [byte, line, removed, added, removedBytes, addedBytes];
}

Deno.test("equal texts have no difference", () => equal(told("a", "a"), null));

Deno.test("the difference contains the position and the line of a changed byte", () => {
  equal(told("one\ntwo + 1\n", "one\ntwo + 2\n"), [10, 2, "1", "2", 1, 1]);
});

Deno.test("for an insertion or a deletion, one side of the difference is empty", () => {
  equal(told("ab", "axb"), [1, 1, "", "x", 0, 1]);
  equal(told("axb", "ab"), [1, 1, "x", "", 1, 0]);
  equal(told("", "x\n"), [0, 1, "", "x\n", 0, 2]);
});

Deno.test("an added or removed repetition of a letter is one changed letter", () => {
  equal(told("aaa", "aaaa"), [3, 1, "", "a", 0, 1]);
  equal(told("aaaa", "aaa"), [3, 1, "a", "", 1, 0]);
});

Deno.test("positions and sizes are bytes of UTF-8, and a difference contains only whole characters", () => {
  equal(told("éx", "éy"), [2, 1, "x", "y", 1, 1]);
  // Both emojis begin with the same half of a surrogate pair.
  equal(told("a😀b", "a😁b"), [1, 1, "😀", "😁", 4, 4]);
  // 𐀀 and 𐐀 end with the same half of a surrogate pair.
  equal(told("\ud800\udc00", "\ud801\udc00"), [0, 1, "\ud800\udc00", "\ud801\udc00", 4, 4]);
});

Deno.test("invisible characters are shown as visible symbols", () => {
  equal(visible(" a b\n"), "·a b↵");
  equal(visible("a\r\n"), "a[CR]↵");
  equal(visible("\ufeffx\u200by"), "[BOM]x[ZWSP]y");
  equal(visible("x".repeat(100)).length, 63);
});
