/** The text that `JSON.parse` reads just now, so that V8 can be asked what is wrong with it. */
let parsed: string | null = null;

export function getParsed(): string | null {
  return parsed;
}

export function setParsed(text: string | null): void {
  parsed = text;
}
