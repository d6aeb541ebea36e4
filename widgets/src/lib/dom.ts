/** Functions that create elements. The panels need no other framework. */

type Child = Node | string | null | undefined | false;
type Listener = (event: Event) => void;
type Value = string | number | boolean | null | undefined | Listener;

/**
 * Creates an element. Attributes whose names start with `on` are listeners. The value `true` sets an empty attribute;
 * `false`, `null` and `undefined` omit the attribute. Strings become text nodes, so the browser never parses data of a
 * service as HTML.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Value> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(
    ...children.filter((child): child is Node | string => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** Replaces the content of an element. A control that had the focus passes it to the new control of the same name. */
export function refill(place: HTMLElement, ...children: (Node | string)[]): void {
  const name = (it: Element) => it.getAttribute("aria-label") ?? it.textContent;
  const focused = document.activeElement;
  const held = focused !== null && place.contains(focused) ? name(focused) : null;
  place.replaceChildren(...children);
  if (held === null) return;
  [...place.querySelectorAll<HTMLElement>("button, input")].find((it) => name(it) === held)?.focus();
}

let numbers = 0;

/** Returns an id that no other element of the page has, for labels and descriptions. */
export function uniqueId(stem: string): string {
  numbers += 1;
  return `svcnb-${stem}-${numbers}-${Math.random().toString(36).slice(2, 8)}`;
}

/** Shows a complete address, hash or CID, with a button that copies it. */
export function copyable(text: string, what: string): HTMLElement {
  return h("span", { class: "svcnb-copyable" }, h("code", {}, text), copyButton(() => text, "Copy", what));
}

/** Matches a number that is too long for a line, such as the hash of an action in decimal. */
const LONG_NUMBER = /(\d{40,})/;

/** Shortens long numbers of a message in the middle. Each number has a button that copies the whole number. */
export function shortened(message: string): Child[] {
  return message.split(LONG_NUMBER).flatMap((part) =>
    LONG_NUMBER.test(part)
      ? [
        h("code", { title: part }, `${part.slice(0, 6)}…${part.slice(-6)}`),
        " ",
        copyButton(() => part, "Copy", "the whole number"),
      ]
      : [part]
  );
}

/** Returns a number with its unit, which is in the singular for 1. */
export function counted(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}

/** Returns a duration in seconds as readable text. */
export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1_000)} ms`;
  return seconds < 100 ? `${seconds.toFixed(1)} s` : `${Math.round(seconds)} s`;
}

/** Returns an amount in cents as dollars. */
export function dollars(cents: number): string {
  return `$${(cents / 100).toFixed(2)}`;
}

/** Returns a control with a label. Screen readers read the hint together with the control. */
export function field(label: string, control: HTMLElement, hint?: string): HTMLElement {
  control.id ||= uniqueId("field");
  const note = hint === undefined ? null : h("small", { class: "svcnb-hint", id: `${control.id}-hint` }, hint);
  if (note) control.setAttribute("aria-describedby", note.id);
  return h("div", { class: "svcnb-field" }, h("label", { for: control.id }, label), control, note);
}

/** Shows an error next to a control until the user changes the control. */
export function fieldError(control: HTMLElement, text: string): void {
  clearFieldError(control);
  const note = h("small", { class: "svcnb-bad svcnb-field-error", role: "alert", id: uniqueId("error") }, text);
  control.setAttribute("aria-invalid", "true");
  control.setAttribute("aria-errormessage", note.id);
  control.after(note);
  control.addEventListener("input", () => clearFieldError(control), { once: true });
  control.focus();
}

export function clearFieldError(control: HTMLElement): void {
  control.removeAttribute("aria-invalid");
  control.removeAttribute("aria-errormessage");
  const next = control.nextElementSibling;
  if (next?.classList.contains("svcnb-field-error")) next.remove();
}

/** Returns a table cell. In a narrow panel, each row becomes a block, and the column's name precedes the cell. */
export function cell(column: string, content: Child, look = "", title = ""): HTMLTableCellElement {
  return h("td", { class: look || null, "data-column": column, title: title || null }, content);
}

/** Returns the head of a table. */
export function tableHead(...titles: string[]): HTMLElement {
  return h("thead", {}, h("tr", {}, ...titles.map((title) => h("th", { scope: "col" }, title))));
}

/** Returns a row with a heading and one cell. */
export function tableRow(title: string, ...content: Child[]): HTMLElement {
  return h("tr", {}, h("th", { scope: "row" }, title), h("td", {}, ...content));
}

/** Returns a highlighted box with a title. */
export function notice(title: string, ...content: Child[]): HTMLElement {
  return h("div", { class: "svcnb-notice" }, h("div", {}, h("strong", {}, title), ...content));
}

/** Returns a button that copies a text and then confirms the copy. */
export function copyButton(text: () => string, label = "Copy", what = ""): HTMLButtonElement {
  const name = what ? `${label} ${what}` : null;
  const button = h("button", { type: "button", class: "svcnb-quiet svcnb-copy", "aria-label": name }, label);
  button.addEventListener("click", async () => {
    button.textContent = await copied(text())
      ? "Copied"
      : "The browser did not copy the text: select the text and copy it manually";
    setTimeout(() => button.textContent = label, 2_000);
  });
  return button;
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text); // available only on pages with a secure origin
    return true;
  } catch {
    const area = h("textarea", { class: "svcnb-aside", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
