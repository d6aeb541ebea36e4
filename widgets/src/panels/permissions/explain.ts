/** Why a key may run an action with a wallet, or which link is missing. */
import { drawing } from "../../lib/drawing.ts";
import { copyButton, field, h, type Panel } from "../../lib/panel.ts";
import { brief } from "../../lib/resources.ts";
import type { Kind, Row } from "./matrix.ts";

interface Explanation {
  allowed: boolean;
  reason: string;
  graph: string;
  repairs: { says: string; code: string; cost_cents: number }[];
  warnings: string[];
}

/** The wildcard row, which cannot be explained. */
const EVERY = "*";

/** Three choices and a button; `offer` says what there is to choose from. */
export function explainer(at: Panel): { element: HTMLElement; offer: (rows: Row[]) => void } {
  const choices: Record<Kind, HTMLSelectElement> = {
    key: h("select"),
    action: h("select"),
    wallet: h("select"),
  };
  const answer = h("div", { "aria-live": "polite" });
  const ask = at.button("Explain", async () => {
    const [key, action, wallet] = [choices.key.value, choices.action.value, choices.wallet.value];
    const found = await at.call<Explanation>("explain", { key, action, wallet }, "Reading the account");
    answer.replaceChildren(...said(found));
  });
  const section = h(
    "section",
    { "aria-label": "Explain a permission" },
    h("h3", {}, "Explain a permission"),
    h(
      "div",
      { class: "svcnb-columns" },
      field("Key", choices.key),
      field("Action", choices.action),
      field("Wallet", choices.wallet),
    ),
    ask,
    answer,
  );
  const offer = (rows: Row[]) => {
    for (const kind of ["key", "action", "wallet"] as const) {
      const select = choices[kind];
      const chosen = select.value;
      const options = rows.filter((row) => row.kind === kind && row.id !== EVERY)
        .map(({ id, name, note }) => h("option", { value: id, selected: id === chosen }, `${name}  ${brief(note)}`));
      if (kind === "wallet") options.unshift(h("option", { value: "", selected: chosen === "" }, "none"));
      select.replaceChildren(...options);
    }
    section.hidden = choices.key.options.length === 0 || choices.action.options.length === 0;
  };
  return { element: section, offer };
}

function said({ allowed, reason, graph, repairs, warnings }: Explanation): (Element | string)[] {
  return [
    h(
      "p",
      { role: "status" },
      h("strong", { class: allowed ? "svcnb-good" : "svcnb-bad" }, allowed ? "✓ Allowed: " : "✕ Refused: "),
      reason,
    ),
    h(
      "div",
      { class: "svcnb-scroll", tabindex: "0", role: "group", "aria-label": "Drawing of the permission" },
      drawing(graph) as HTMLElement,
    ),
    ...repairs.map(({ says, code, cost_cents }, number) =>
      h(
        "div",
        { class: "svcnb-card" },
        h("strong", {}, `${number === 0 ? "Fix" : "Or"} (${cost_cents ? `${cost_cents} ct` : "gas"}): `),
        says,
        h("pre", { tabindex: "0", "aria-label": `Fix ${number + 1} as Python code` }, h("code", {}, code)),
        copyButton(() => code),
      )
    ),
    ...warnings.map((text) => h("div", { class: "svcnb-notice" }, h("p", {}, text))),
  ];
}
