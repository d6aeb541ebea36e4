/** `console.table` in the format of Deno. */
import inspector from "node-inspect-extracted";

const CELL = { depth: 1, breakLength: Infinity, colors: false } as const;

/** The types of the library do not contain this function. */
const { getStringWidth: width } = inspector as unknown as { getStringWidth(text: string): number };

/**
 * Returns the table of some data as a text, or the data if it is not an object.
 *
 * @param data Rows by index or key, or a map or set.
 * @param columns Names of the columns. Undefined means all.
 * @throws {Error} The columns are not an array.
 */
export function table(data: unknown, columns: unknown): unknown {
  if (columns !== undefined && !Array.isArray(columns)) {
    throw new Error(`The 'properties' argument must be of type Array: received type ${typeof columns}`);
  }
  if (data === null || typeof data !== "object") return data;
  const iterated = data instanceof Map || data instanceof Set;
  const entries = rowsOf(data);
  const cells = new Map<string, string[]>((columns ?? []).map((name: unknown) => [String(name), []]));
  const values: string[] = [];
  entries.forEach(([, row], index) => {
    const primitive = row === null || (typeof row !== "object" && typeof row !== "function");
    if (primitive) {
      if (columns === undefined) values[index] = inspector.inspect(row, CELL);
      return;
    }
    for (const name of columns ?? Object.keys(row as object)) {
      if (!(name in (row as object))) continue;
      const column = cells.get(String(name)) ?? [];
      column[index] = inspector.inspect((row as Record<string, unknown>)[name], CELL);
      cells.set(String(name), column);
    }
  });
  const own = Object.fromEntries(cells); // an object orders names that are numbers
  const head = [iterated ? "(iter idx)" : "(idx)", ...Object.keys(own)];
  const body = [entries.map(([key]) => key), ...Object.values(own)];
  if (values.length > 0) {
    head.push("Values");
    body.push(values);
  }
  return drawn(head, body, entries.length);
}

function rowsOf(data: object): [string, unknown][] {
  if (data instanceof Set) return Object.entries([...data]);
  if (data instanceof Map) return Object.entries([...data].map(([Key, Values]) => ({ Key, Values })));
  return Object.entries(data);
}

function drawn(head: string[], body: string[][], height: number): string {
  const columns = head.map((name, number) => {
    const cells = Array.from({ length: height }, (_, row) => body[number]![row] ?? "");
    const widest = Math.max(width(name), ...cells.map((cell) => width(cell)));
    const right = cells.every((cell) => Number.isInteger(Number(cell)));
    return { name, cells, widest, right };
  });
  const rule = (left: string, middle: string, end: string) =>
    left + columns.map(({ widest }) => "─".repeat(widest + 2)).join(middle) + end;
  const line = (cells: string[]) => `│ ${cells.join(" │ ")} │`;
  const pad = (text: string, widest: number) => " ".repeat(widest - width(text));
  const rows = Array.from({ length: height }, (_, row) =>
    line(columns.map(({ cells, widest, right }) => {
      const cell = cells[row]!;
      return right ? pad(cell, widest) + cell : cell + pad(cell, widest);
    })));
  const names = line(columns.map(({ name, widest }) => name + pad(name, widest)));
  return [rule("┌", "┬", "┐"), names, rule("├", "┼", "┤"), ...rows, rule("└", "┴", "┘")].join("\n");
}
