/**
 * Text area with the interface of the code editor. Users write in this area until the code editor is loaded, or if it
 * cannot be loaded.
 */
import type { Editor, Options } from "../codemirror/interface.ts";
import { h } from "./dom.ts";

export function mountPlain(parent: HTMLElement, options: Options): Editor {
  const area = h("textarea", { "aria-label": options.label, spellcheck: "false", rows: "8", wrap: "off" });
  area.value = options.text;
  area.addEventListener("input", () => options.changed(area.value));
  area.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !options.submit) return;
    event.preventDefault();
    options.submit();
  });
  parent.append(area);
  return {
    text: () => area.value,
    replace(text: string): void {
      if (text === area.value) return;
      area.value = text;
      options.changed(text);
    },
    mark: () => {},
    markChange: () => {},
    goTo: () => area.focus(),
    focus: () => area.focus(),
    hasFocus: () => document.activeElement === area,
    destroy: () => area.remove(),
  };
}
