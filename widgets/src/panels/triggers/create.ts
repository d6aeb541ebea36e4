/** Form that creates a trigger. The form explains a schedule or an event signature while the user writes it. */
import { field, h, type Panel, typed, uniqueId } from "../../lib/panel.ts";
import type { Trigger } from "./runs.ts";

type Kind = "webhook" | "schedule" | "chain_event";

const KINDS: Record<Kind, string> = {
  webhook: "Webhook: on each POST request",
  schedule: "Schedule: at fixed times",
  chain_event: "Chain event: when a contract emits an event",
};
/** Pause after the last key press before the form explains a text, in milliseconds. */
const PAUSE_MS = 300;
const EXAMPLE = `async function main({ event }) {
  return event;
}`;

export function maker(
  at: Panel,
  chains: string[],
  cost: string,
  made: (trigger: Trigger) => Promise<void>,
): HTMLElement {
  const text = (placeholder = "") =>
    h("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder });
  const name = text("orders");
  const source = h("textarea", { rows: 6, spellcheck: "false" }, EXAMPLE);
  const params = h("textarea", { rows: 2, spellcheck: "false", placeholder: '{"limit": 5}' });
  const usageKey = h("input", { type: "password", autocomplete: "off", spellcheck: "false" });
  const cron = text("0 9 * * MON");
  const chain = h("select", {}, ...chains.map((each) => h("option", { value: each }, each)));
  const contract = text("0x…");
  const signature = text("Transfer(address,address,uint256)");
  const start = text();
  source.value = EXAMPLE;

  const kinds = Object.entries(KINDS).map(([kind, label]) => {
    const radio = h("input", { type: "radio", value: kind, checked: kind === "webhook" });
    return { kind: kind as Kind, radio, label: h("label", {}, radio, label) };
  });
  const group = uniqueId("kind");
  kinds.forEach(({ radio }) => radio.setAttribute("name", group));
  const kind = (): Kind => kinds.find(({ radio }) => radio.checked)?.kind ?? "webhook";

  const schedule = h(
    "div",
    {},
    field("Schedule", cron, "Cron expression in UTC: five fields, or six fields if the first contains seconds"),
  );
  const event = h(
    "div",
    {},
    h("div", { class: "svcnb-columns" }, field("Chain", chain), field("Contract", contract)),
    field("Event", signature, "Signature with types, as in the contract's source"),
  );
  schedule.append(
    meaning<{ says: string; times: string[] }>(at, cron, "schedule", "cron", ({ says, times }) => [
      h("strong", {}, says),
      h("ol", { "aria-label": "Next times" }, ...times.map((time) => h("li", {}, time))),
    ]),
  );
  event.append(
    meaning<{ says: string; arguments: string[]; warnings: string[] }>(at, signature, "event", "signature", (found) => [
      h("code", {}, found.says),
      h("ul", { "aria-label": "Arguments" }, ...found.arguments.map((each) => h("li", {}, h("code", {}, each)))),
      ...found.warnings.map((each) => h("p", { class: "svcnb-warn" }, `Warning: ${each}`)),
    ]),
    field("From block", start, "If this field is empty, the service scans from 100 blocks before the newest block"),
  );
  const chosen = () => {
    schedule.hidden = kind() !== "schedule";
    event.hidden = kind() !== "chain_event";
  };
  kinds.forEach(({ radio }) => radio.addEventListener("change", chosen));
  chosen();

  const create = at.button("Create", async () => {
    const config = {
      cron: cron.value,
      chain: chain.value,
      contract_address: contract.value,
      event_signature: signature.value,
      start_block: start.value,
    };
    const trigger = await at.call<Trigger>("create", {
      name: typed(name, "Enter a name for the trigger."),
      kind: kind(),
      source: source.value,
      params: params.value,
      config,
      usage_key: usageKey.value,
    }, "Creating the trigger");
    usageKey.value = "";
    drawer.open = false;
    await made(trigger);
  }, {
    kind: "primary",
    fields: {
      name,
      source,
      params,
      cron,
      contract_address: contract,
      event_signature: signature,
      start_block: start,
      usage_key: usageKey,
    },
  });
  const price = h("span", { class: "svcnb-muted" });
  const priced = () => {
    price.textContent = usageKey.value
      ? "free"
      : `${cost}: creates a group that permits the action, and a key that can only run this action`;
  };
  usageKey.addEventListener("input", priced);
  priced();

  const drawer = h(
    "details",
    { class: "svcnb-new" },
    h("summary", {}, "Create trigger"),
    field("Name", name),
    h("fieldset", {}, h("legend", {}, "Kind"), ...kinds.map(({ label }) => label)),
    schedule,
    event,
    field("Action", source, "JavaScript source; the service stores it with the trigger"),
    field("Default parameters", params, "JSON object; the service adds the data of the event"),
    field(
      "Usage key",
      usageKey,
      "If this field is empty, the panel creates a key. The triggers service encrypts and stores the key.",
    ),
    h("div", { class: "svcnb-row" }, create, price),
  );
  return drawer;
}

/** Explains a text while the user writes it, or shows why it is invalid. */
function meaning<T>(
  at: Panel,
  input: HTMLInputElement,
  command: string,
  argument: string,
  shown: (found: T) => HTMLElement[],
): HTMLElement {
  const place = h("div", { class: "svcnb-meaning", "aria-live": "polite" });
  let timer: ReturnType<typeof setTimeout> | undefined;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    const text = input.value;
    timer = setTimeout(async () => {
      if (!text.trim()) return place.replaceChildren();
      const answer = await at.call<T>(command, { [argument]: text }, "Checking the input").then(shown, (error) => [
        h("span", { class: "svcnb-bad" }, `✕ ${error.message}`),
        h("small", { class: "svcnb-hint" }, error.hint ?? ""),
      ]);
      if (input.value === text) place.replaceChildren(...answer);
    }, PAUSE_MS);
  });
  return place;
}
