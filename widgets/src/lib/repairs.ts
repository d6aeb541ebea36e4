/** Changes that permit a run, and warnings about permissions. */
import { copyButton, dollars, h } from "./dom.ts";

export interface Repairs {
  repairs: { says: string; code: string; cost_cents: number }[];
  warnings: string[];
}

/** Returns a card with Python code for each repair, and a notice for each warning. */
export function repairCards({ repairs, warnings }: Repairs): HTMLElement[] {
  return [
    ...repairs.map(({ says, code, cost_cents }, number) =>
      h(
        "div",
        { class: "svcnb-card" },
        h("strong", {}, `${number === 0 ? "Fix" : "Other fix"} (${cost_cents ? dollars(cost_cents) : "costs gas"}): `),
        says,
        h("pre", { tabindex: "0", "aria-label": `Fix ${number + 1} as Python code` }, h("code", {}, code)),
        copyButton(() => code),
      )
    ),
    ...warnings.map((text) => h("div", { class: "svcnb-notice" }, h("p", {}, text))),
  ];
}
