/** Workbench with all panels. Each panel has a tab. Python creates a panel when the user first opens its tab. */
import { copyButton, h, type Model, panel, refill, type Session, SHOW_PANEL, uniqueId } from "../../lib/panel.ts";
import { BrowserWallet } from "../signing/browser_wallet.ts";
import { answerRequests } from "../signing/requests.ts";

/** Part of the interface of Jupyter's widget manager that the workbench uses. */
interface Manager {
  get_model(id: string): Promise<unknown>;
  create_view(model: unknown): Promise<{ el: HTMLElement; remove(): void }>;
}

const REFERENCE = "IPY_MODEL_";

export default panel("Workbench", (at) => {
  const manager = (at.model as Model & { widget_manager: Manager }).widget_manager;
  const names = at.get<string[]>("tabs");
  const stem = uniqueId("tab");
  const views = new Map<string, { reference: string; view: { el: HTMLElement; remove(): void } }>();
  let chosen = names[0]!;

  const places = new Map(names.map((name, index) => [
    name,
    h("div", {
      role: "tabpanel",
      id: `${stem}-panel-${index}`,
      "aria-labelledby": `${stem}-${index}`,
      hidden: index > 0,
    }),
  ]));
  const tabs = names.map((name, index) =>
    h(
      "button",
      {
        type: "button",
        role: "tab",
        id: `${stem}-${index}`,
        "aria-controls": `${stem}-panel-${index}`,
        "aria-selected": index === 0 ? "true" : "false",
        tabindex: index === 0 ? "0" : "-1",
        onclick: () => choose(index),
      },
      name,
    )
  );
  const list = h("div", { role: "tablist", class: "svcnb-tabs", "aria-label": "Panels" }, ...tabs);
  // The Tab key stops once in the list. The arrow keys, Home and End change the tab (WAI-ARIA, automatic activation).
  list.addEventListener("keydown", (event) => {
    const steps: Record<string, number> = {
      ArrowRight: 1,
      ArrowLeft: -1,
      Home: -names.indexOf(chosen),
      End: -1 - names.indexOf(chosen),
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const index = (names.indexOf(chosen) + step + names.length) % names.length;
    choose(index);
    tabs[index]!.focus();
  });
  const account = h("div", { class: "svcnb-session", role: "group", "aria-label": "Open account" });
  const requests = h("div", { "aria-live": "polite" });
  at.body.append(account, requests, list, ...places.values());
  const wallet = new BrowserWallet(at);
  answerRequests(at, requests, wallet);
  at.onSession((_changed, session) => refill(account, ...line(session)));
  at.root.addEventListener(SHOW_PANEL, (event) => {
    const index = names.indexOf((event as CustomEvent<string>).detail);
    if (index < 0) return;
    choose(index);
    tabs[index]!.focus();
  });
  void at.attempt(async () => refill(account, ...line(await at.call<Session>("shared"))));

  const choose = (index: number) => {
    chosen = names[index]!;
    tabs.forEach((tab, other) => {
      tab.setAttribute("aria-selected", String(other === index));
      tab.setAttribute("tabindex", other === index ? "0" : "-1");
    });
    for (const [name, place] of places) place.hidden = name !== chosen;
    void at.attempt(fill);
  };

  /**
   * Shows the chosen panel. If the panel does not exist, Python creates it, and the change of `panels` calls this
   * function again.
   */
  const fill = async () => {
    const name = chosen;
    const reference = at.get<Record<string, string>>("panels")[name];
    for (const [other, { reference: shown, view }] of [...views]) {
      if (at.get<Record<string, string>>("panels")[other] === shown) continue;
      view.remove();
      views.delete(other);
    }
    if (reference === undefined) {
      await at.call("open_tab", { name }, `Opening ${name}`);
      return;
    }
    if (views.has(name)) return;
    const model = await manager.get_model(reference.slice(REFERENCE.length));
    const view = await manager.create_view(model);
    if (views.has(name)) return view.remove();
    views.set(name, { reference, view });
    places.get(name)!.replaceChildren(view.el);
  };

  at.watch("panels", () => void at.attempt(fill));
  return () => {
    wallet.stop();
    views.forEach(({ view }) => view.remove());
  };
});

/** Returns a line about the open account, which is the same on every tab. */
function line({ mode, address, balance }: Session): (Node | string)[] {
  if (mode === "") {
    return [h("span", { class: "svcnb-muted" }, "No account is open. Create or open an account under Account.")];
  }
  return [
    h("span", {}, mode === "chain" ? "ChainSecured account of " : "Account ", h("code", {}, address)),
    copyButton(() => address, "Copy", "the account's address"),
    h("span", { class: "svcnb-balance" }, balance || "credit not loaded yet"),
  ];
}
