/** Difference between two texts in bytes. An action with one changed byte is a different action. */

export interface TextChange {
  /** First byte that differs, in UTF-8, counted from 0. */
  byte: number;
  /** Line of this byte, counted from 1. */
  line: number;
  /** The previous text at this position. */
  removed: string;
  /** The current text at this position. */
  added: string;
  removedBytes: number;
  addedBytes: number;
  /** Start of `added` in the newer text, in characters. */
  from: number;
  to: number;
}

const encoder = new TextEncoder();
const size = (text: string) => encoder.encode(text).length;

/** Returns the part between the common beginning and the common end of two texts, or null if they are equal. */
export function changeBetween(older: string, newer: string): TextChange | null {
  if (older === newer) return null;
  const shorter = Math.min(older.length, newer.length);
  let start = 0;
  while (start < shorter && older[start] === newer[start]) start += 1;
  let end = 0;
  while (end < shorter - start && older[older.length - 1 - end] === newer[newer.length - 1 - end]) end += 1;
  // JavaScript stores a character above U+FFFF as two units. A change must contain both units or none.
  if (isHighHalf(older, start - 1) || isHighHalf(newer, start - 1)) start -= 1;
  if (end > 0 && (isLowHalf(older, older.length - end) || isLowHalf(newer, newer.length - end))) end -= 1;
  const removed = older.slice(start, older.length - end);
  const added = newer.slice(start, newer.length - end);
  const before = newer.slice(0, start);
  return {
    byte: size(before),
    line: before.split("\n").length,
    removed,
    added,
    removedBytes: size(removed),
    addedBytes: size(added),
    from: start,
    to: newer.length - end,
  };
}

const VISIBLE: Record<string, string> = {
  "\r": "[CR]",
  "\n": "↵",
  "\t": "→",
  " ": "·",
  "\u00a0": "[NBSP]",
  "\u200b": "[ZWSP]",
  "\ufeff": "[BOM]",
};

/** Returns a text with its invisible characters made visible. Shortens a long text in the middle. */
export function visible(text: string, longest = 60): string {
  const kept = text.length > longest ? `${text.slice(0, longest / 2)} … ${text.slice(-longest / 2)}` : text;
  const edges = /^\s+|\s+$|[\r\n\t\u00a0\u200b\ufeff]/g;
  return kept.replace(edges, (found) => Array.from(found, (each) => VISIBLE[each] ?? each).join(""));
}

function isHighHalf(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowHalf(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff;
}
