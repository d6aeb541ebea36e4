/** Derived action: the current action as the template, with an appended constant. */
import { copyButton, field, h, type Panel, typed } from "../../lib/panel.ts";

interface Derived {
  source: string;
  added: string;
  cid: string;
  hashed_cid: string;
}

interface Derive {
  element: HTMLElement;
  /** Removes the action that was derived from an earlier source. */
  clear(): void;
}

export function deriveCard(at: Panel, source: () => string, use: (derived: string) => void): Derive {
  const name = h("input", { type: "text", autocomplete: "off", spellcheck: "false", value: "CONST" });
  const constant = h("textarea", { rows: "2", spellcheck: "false", placeholder: '{ "cents": 500 }' });
  const version = h("input", { type: "number", min: "1", step: "1", value: "1" });
  const result = h("div", { "aria-live": "polite" });
  const derive = at.button("Derive", async () => {
    const args = {
      source: source(),
      constant: typed(constant, "Enter a JSON value."),
      name: typed(name, "Enter the name that the template reads."),
      version: Number(typed(version, "Enter a whole number of at least 1.")),
    };
    show(await at.call<Derived>("derive", args, "Deriving"));
  }, { fields: { constant, constant_name: name, version } });

  function show(derived: Derived): void {
    result.replaceChildren(
      h("pre", { tabindex: "0" }, derived.added),
      h("p", {}, "CID ", h("code", { class: "svcnb-derived" }, derived.cid), copyButton(() => derived.cid)),
      h(
        "button",
        { type: "button", onclick: () => use(derived.source) },
        "Edit the derived action",
      ),
    );
  }

  const element = h(
    "details",
    {},
    h("summary", {}, "Derive with a constant"),
    h(
      "div",
      { class: "svcnb-card" },
      h(
        "small",
        { class: "svcnb-hint" },
        "The derived action starts with the unchanged bytes of the template. Each constant results in a different CID and a different key.",
      ),
      h(
        "div",
        { class: "svcnb-columns" },
        field("Name of the constant", name, "Identifier that the template reads."),
        field("Version", version, "Version of the constant's format."),
      ),
      field("Constant", constant, "JSON value."),
      h("div", { class: "svcnb-row" }, derive),
      result,
    ),
  );
  return { element, clear: () => result.replaceChildren() };
}
