/** A derived action: this one as the template, and a constant appended to it. */
import { copyButton, field, h, type Panel } from "../../lib/panel.ts";

interface Derived {
  source: string;
  added: string;
  cid: string;
  hashed_cid: string;
}

export function deriveCard(at: Panel, source: () => string, use: (derived: string) => void): HTMLElement {
  const name = h("input", { type: "text", autocomplete: "off", spellcheck: "false", value: "CONST" });
  const constant = h("textarea", { rows: "2", spellcheck: "false", placeholder: '{ "cents": 500 }' });
  const version = h("input", { type: "number", min: "1", step: "1", value: "1" });
  const result = h("div", { "aria-live": "polite" });
  const derive = at.button("Derive", async () => {
    const args = { source: source(), constant: constant.value, name: name.value, version: Number(version.value) };
    show(await at.call<Derived>("derive", args, "Deriving"));
  });

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

  return h(
    "details",
    {},
    h("summary", {}, "Derive with a constant"),
    h(
      "div",
      { class: "svcnb-card" },
      h(
        "small",
        { class: "svcnb-hint" },
        "The template's bytes stay in front, as they were audited. Each constant gives another CID, and with it another key.",
      ),
      h(
        "div",
        { class: "svcnb-columns" },
        field("Name of the constant", name, "The identifier that the template reads."),
        field("Version", version, "Of the agreement between template and constant."),
      ),
      field("Constant", constant, "JSON."),
      h("div", { class: "svcnb-row" }, derive),
      result,
    ),
  );
}
