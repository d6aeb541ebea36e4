/** Explanation of why a key can run an action with a wallet, or which permission is missing. */
import { drawingArea } from "../../lib/drawing.ts";
import { field, h, type Panel } from "../../lib/panel.ts";
import { repairCards, type Repairs } from "../../lib/repairs.ts";
import { brief } from "../../lib/resources.ts";
import type { Kind, Row } from "./matrix.ts";

interface Explanation extends Repairs {
  allowed: boolean;
  reason: string;
  graph: string;
}

/** Row of the wildcard, for which there is no explanation. */
const EVERY = "*";

/** Returns three selects and a button. `offer` sets the options of the selects. */
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

function said(found: Explanation): (Element | string)[] {
  const { allowed, reason, graph } = found;
  return [
    h(
      "p",
      { role: "status" },
      h("strong", { class: allowed ? "svcnb-good" : "svcnb-bad" }, allowed ? "✓ Allowed: " : "✕ Refused: "),
      reason,
    ),
    drawingArea(graph, "Drawing of the permission"),
    ...repairCards(found),
  ];
}
