/** Displayed form of transactions before their signature: a description, the decoded arguments, and the gas. */
import { h, tableRow } from "../../lib/dom.ts";

export interface Write {
  what: string;
  function: string;
  /** Name and text of each argument. */
  arguments: [string, string][];
  gas: number;
  cost: string;
  max_cost: string;
  /** Whether more transactions follow, which the panel can simulate only after this one is in a block. */
  first_of_several: boolean;
}

export function writeList(writes: Write[]): HTMLElement {
  return h("ol", { class: "svcnb-writes", "aria-label": "Transactions" }, ...writes.map(item));
}

function item({ what, function: name, arguments: given, gas, cost, max_cost, first_of_several }: Write): HTMLElement {
  return h(
    "li",
    {},
    h("span", {}, `${what} `),
    h("span", { class: "svcnb-muted" }, `${gas.toLocaleString("en")} gas, ${cost}, at most ${max_cost}`),
    first_of_several &&
      h(
        "p",
        { class: "svcnb-hint" },
        "This is the first of several transactions. Each transaction has at most ten entries.",
      ),
    h(
      "details",
      {},
      h("summary", {}, "Arguments of the contract call"),
      h(
        "table",
        {},
        tableRow("function", h("code", {}, name)),
        ...given.map(([label, text]) => tableRow(label, h("code", { class: "svcnb-mono" }, text))),
      ),
    ),
  );
}
