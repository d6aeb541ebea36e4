/** Text that `JSON.parse` is currently parsing, from which V8 can create the error message. */
let parsed: string | null = null;

export function getParsed(): string | null {
  return parsed;
}

export function setParsed(text: string | null): void {
  parsed = text;
}
