/** Text of an uncaught error, in the format of the service. */
import { stringIncludes, stringIndexOf, stringSlice, stringStartsWith, toText } from "./primordials.ts";

export const SCRIPT_NAME = "<user_provided_script>";

const MAX_TEXT = 64 * 1024;
const MAX_FRAMES = 50;

export interface Described {
  readonly text: string;
  /** Class name of the error for the host's statistics, or "" for a thrown value that is not an error. */
  readonly name: string;
}

/**
 * Describes a thrown value: `Uncaught (in promise) <Name>: <message>` and the stack lines of the action's own code.
 *
 * Getters of the thrown value can also throw, so the function reads each member inside a `try` block.
 */
export function describe(
  thrown: unknown,
  where: "in promise" | "top level",
  inspect: (value: unknown) => string,
): Described {
  const prefix = where === "in promise" ? "Uncaught (in promise) " : "Uncaught ";
  const isObject = (typeof thrown === "object" && thrown !== null) || typeof thrown === "function";
  if (!isObject) return { text: cut(prefix + primitive(thrown, inspect)), name: "" };
  const name = member(thrown, "name");
  const message = member(thrown, "message");
  if (name === null && message === null) {
    let shown = "[object Object]";
    try {
      shown = inspect(thrown);
    } catch { /* the value's own inspector failed, so use the plain form */ }
    return { text: cut(prefix + shown), name: "" };
  }
  const title = name === null || name === "" ? "Error" : name;
  const headline = message === null || message === "" ? title : `${title}: ${message}`;
  return { text: cut(prefix + headline + frames(thrown)), name: title };
}

function primitive(value: unknown, inspect: (value: unknown) => string): string {
  return typeof value === "string" ? value : inspect(value);
}

function member(of: unknown, name: "name" | "message" | "stack"): string | null {
  try {
    const value = (of as Record<string, unknown>)[name];
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}

/** Returns the stack lines of the action and its imports, without those of the bootstrap. */
function frames(of: unknown): string {
  const stack = member(of, "stack");
  if (stack === null) return "";
  let kept = "";
  let at = stringIndexOf(stack, "\n    at ");
  for (let count = 0; at !== -1 && count < MAX_FRAMES;) {
    const end = stringIndexOf(stack, "\n    at ", at + 1);
    const line = end === -1 ? stringSlice(stack, at) : stringSlice(stack, at, end);
    if (isOwn(line)) {
      kept += line;
      count++;
    }
    at = end;
  }
  return kept;
}

/** Returns whether a stack line belongs to the action or its imports. */
export function isOwn(line: string): boolean {
  return stringIncludes(line, SCRIPT_NAME) || stringIncludes(line, "<package ") ||
    (stringIncludes(line, "(<anonymous>)") && !stringStartsWith(line, "\n    at new Promise"));
}

function cut(text: string): string {
  return text.length <= MAX_TEXT ? toText(text) : stringSlice(text, 0, MAX_TEXT) + "…";
}
