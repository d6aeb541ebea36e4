/** Triggers panel, which creates, enables, disables and monitors actions that run automatically. */
import { cell, tableHead } from "../../lib/dom.ts";
import { h, panel } from "../../lib/panel.ts";
import { throughProxy } from "../../lib/proxy.ts";
import { maker } from "./create.ts";
import { type Trigger, watcher } from "./runs.ts";

interface Begun {
  approved: boolean;
  page?: string;
  email?: string;
  chains?: string[];
  cost?: string;
}

const KINDS: Record<string, string> = { webhook: "webhook", schedule: "schedule", chain_event: "chain event" };

export default panel("Triggers", (at) => {
  const approval = h("div", {});
  const list = h("div", {});
  const content = h("div", { hidden: true });
  const watch = watcher(at);
  const again = at.button("Refresh", () => refresh(), { kind: "quiet" });
  at.body.append(approval, content);

  const refresh = async () => show(await at.call<Trigger[]>("read", {}, "Reading the triggers"));

  const show = (triggers: Trigger[]) => {
    watch.offer(triggers);
    list.replaceChildren(
      triggers.length === 0 ? h("p", { class: "svcnb-muted" }, "No triggers yet.") : h(
        "div",
        { class: "svcnb-scroll" },
        h(
          "table",
          { class: "svcnb-stack" },
          tableHead("Enabled", "Name", "Kind", "Fires", ""),
          h("tbody", {}, ...triggers.map(line)),
        ),
      ),
    );
  };

  const line = (trigger: Trigger): HTMLElement => {
    const { id, name, kind, when, enabled } = trigger;
    const box = h("input", { type: "checkbox", role: "switch", "aria-label": `${name} fires`, checked: enabled });
    box.checked = enabled;
    box.addEventListener("change", async () => {
      const on = box.checked;
      const done = await at.attempt(async () => {
        await at.call("switch", { trigger: id, on }, on ? "Enabling" : "Disabling");
        state.textContent = on ? "on" : "off";
      });
      if (!done) box.checked = !on;
    });
    const state = h("span", { "aria-hidden": "true" }, enabled ? "on" : "off");
    const open = at.button("Runs", () => watch.open(trigger), { kind: "quiet" });
    open.setAttribute("aria-label", `Runs of ${name}`);
    return h(
      "tr",
      {},
      h("td", {}, box, state),
      h("th", { scope: "row", class: "svcnb-whole" }, name),
      cell("Kind", KINDS[kind] ?? kind),
      cell("Fires", kind === "webhook" ? when : h("code", {}, when), "svcnb-whole"),
      h("td", {}, open, removal(trigger)),
    );
  };

  /** Ask for confirmation, because the service also deletes the trigger's runs. */
  const removal = ({ id, name }: Trigger): HTMLElement => {
    const place = h("span", { class: "svcnb-removal" });
    const ask = h("button", { type: "button", class: "svcnb-quiet", "aria-label": `Delete ${name}` }, "Delete");
    const yes = at.button("Delete the trigger and its runs", async () => {
      await at.call("remove", { trigger: id }, "Deleting");
      watch.close(id);
      await refresh();
      again.focus(); // the element with the focus no longer exists
    }, { kind: "danger" });
    const no = h("button", { type: "button" }, "Keep the trigger");
    ask.addEventListener("click", () => (place.replaceChildren(yes, no), no.focus()));
    no.addEventListener("click", () => (place.replaceChildren(ask), ask.focus()));
    place.append(ask);
    return place;
  };

  const enter = async ({ approved, page, email, chains = [], cost = "" }: Begun) => {
    content.hidden = true;
    if (!approved) return approval.replaceChildren(admission(await throughProxy(page ?? "")));
    approval.replaceChildren(
      h("div", { class: "svcnb-row" }, h("span", { class: "svcnb-muted" }, `Authorised by ${email}.`), again),
    );
    content.replaceChildren(
      list,
      watch.element,
      maker(at, chains, cost, async (made) => {
        await refresh();
        await watch.open(made);
      }),
    );
    // The list would move the form away from the pointer if it appeared later.
    await at.attempt(refresh);
    content.hidden = false;
  };

  const admission = (page: string): HTMLElement =>
    h(
      "div",
      { class: "svcnb-card" },
      h("h3", {}, "Not authorised yet"),
      h("p", {}, "Open the approval page of the triggers service, and approve this panel once. Then press Continue."),
      h(
        "div",
        { class: "svcnb-row" },
        h(
          "a",
          { href: page, target: "_blank", rel: "noopener noreferrer", class: "svcnb-button" },
          "Open approval page",
        ),
        at.button(
          "Continue",
          async () => await enter(await at.call<Begun>("approved", {}, "Waiting for the approval")),
        ),
      ),
    );

  at.attempt(async () => await enter(await at.call<Begun>("begin", {}, "Connecting to the triggers service")));
  return () => watch.end();
});
