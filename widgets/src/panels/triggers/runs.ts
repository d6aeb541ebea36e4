/** Live list of the runs of one trigger, and the details of one run. */
import { cell, duration, tableHead } from "../../lib/dom.ts";
import { copyButton, field, h, type Panel } from "../../lib/panel.ts";

export interface Trigger {
  id: string;
  name: string;
  kind: string;
  when: string;
  enabled: boolean;
  cid: string;
  address: string;
}

interface Run {
  id: string;
  status: string;
  attempt: number;
  started: string;
  seconds: number | null;
  brief: string;
}

interface FullRun extends Run {
  input: string;
  result: string;
  logs: string;
  error: string;
}

/** Interval between two reads of the runs of an open trigger, in milliseconds. */
export const EVERY_MS = 1_500;

/** Sign next to each word, so that the status does not depend on colour. */
const SIGNS: Record<string, [string, string]> = {
  success: ["✓", "svcnb-good"],
  failed: ["✕", "svcnb-bad"],
  running: ["▸", ""],
  retrying: ["↻", "svcnb-warn"],
  queued: ["…", "svcnb-muted"],
};

export interface Watcher {
  element: HTMLElement;
  open(trigger: Trigger): Promise<void>;
  /** Closes the view if it shows this trigger. */
  close(id: string): void;
  /** Sets the existing triggers. The view of a deleted trigger closes. */
  offer(triggers: Trigger[]): void;
  end(): void;
}

export function watcher(at: Panel): Watcher {
  const element = h("section", { hidden: true, "aria-label": "Runs" });
  let open: Trigger | undefined;
  let chosen = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  let waits = false;
  let body = h("tbody");
  let full = h("div", {});
  let count = h("p", { class: "svcnb-muted", role: "status" });

  const stop = () => {
    clearTimeout(timer);
    open = undefined;
    element.hidden = true;
    element.replaceChildren();
  };

  const look = async (trigger: Trigger): Promise<void> => {
    const runs = await at.call<Run[]>("runs", { trigger: trigger.id }, "Reading the runs");
    if (open !== trigger) return;
    draw(runs);
    clearTimeout(timer);
    timer = setTimeout(() => again(trigger), EVERY_MS);
  };

  /** Reads the runs again while the panel is visible. After a failure, the reads stop until "Refresh". */
  const again = (trigger: Trigger) => {
    waits = !at.visible;
    if (open === trigger && !waits) at.attempt(() => look(trigger));
  };
  at.whenVisible(() => waits && open && again(open));

  const draw = (runs: Run[]) => {
    const focused = body.contains(document.activeElement) ? document.activeElement?.getAttribute("data-run") : null;
    body.replaceChildren(...runs.map(line));
    if (focused) {
      [...body.querySelectorAll("button")].find((each) => each.getAttribute("data-run") === focused)?.focus();
    }
    const text = runs.length === 0
      ? "No runs yet. New runs appear here."
      : runs.length === 1
      ? "1 run"
      : `${runs.length} runs, newest first`;
    if (count.textContent !== text) count.textContent = text;
  };

  const line = (run: Run): HTMLElement => {
    const [sign, look] = SIGNS[run.status] ?? ["", ""];
    const opens = at.button(run.started || run.id, () => showRun(run.id), { kind: "quiet" });
    opens.setAttribute("data-run", run.id);
    return h(
      "tr",
      { class: run.id === chosen ? "svcnb-chosen" : null },
      h("td", {}, opens),
      cell("Status", `${sign} ${run.status}`, look),
      cell("Duration", run.seconds === null ? "" : duration(run.seconds)),
      cell("Attempt", String(run.attempt)),
      cell("Error", run.brief),
    );
  };

  const showRun = async (id: string) => {
    const trigger = open;
    if (!trigger) return;
    chosen = id;
    const run = await at.call<FullRun>("run", { trigger: trigger.id, run: id }, "Reading the run");
    if (open !== trigger) return;
    const parts: [string, string][] = [
      ["Result", run.result],
      ["Error", run.error],
      ["Logs", run.logs],
      ["Received", run.input],
    ];
    full.replaceChildren(
      h(
        "div",
        { class: "svcnb-card", role: "group", "aria-label": "One run" },
        h("h3", {}, `Run of ${run.started}: ${run.status}`),
        ...parts.filter(([, text]) => text !== "").map(([title, text]) =>
          h(
            "div",
            {},
            h("strong", {}, title),
            h("pre", { tabindex: "0", "aria-label": title }, h("code", {}, text)),
          )
        ),
      ),
    );
  };

  const tester = (trigger: Trigger): HTMLElement => {
    const text = h("textarea", { rows: 3, spellcheck: "false" }, '{"n": 1}');
    text.value = '{"n": 1}';
    return h(
      "div",
      { class: "svcnb-card" },
      h("p", {}, "Address: ", h("code", {}, trigger.address), " ", copyButton(() => trigger.address)),
      h("p", { class: "svcnb-hint" }, "Anyone who has this address can start the trigger."),
      field("Test request", text, "The panel sends valid JSON as JSON, and other text as plain text"),
      at.button("Send", async () => {
        const { run } = await at.call<{ run: string }>("fire", { trigger: trigger.id, body: text.value }, "Sending");
        chosen = run;
        await look(trigger);
      }),
    );
  };

  return {
    element,
    async open(trigger) {
      clearTimeout(timer);
      open = trigger;
      chosen = "";
      body = h("tbody");
      full = h("div", { "aria-live": "polite" });
      count = h("p", { class: "svcnb-muted", role: "status" });
      const close = h("button", { type: "button", class: "svcnb-quiet", onclick: stop }, "Close");
      element.replaceChildren(
        h("div", { class: "svcnb-row" }, h("h3", {}, `Runs of ${trigger.name}`), close),
        trigger.address ? tester(trigger) : "",
        count,
        h(
          "div",
          { class: "svcnb-scroll" },
          h(
            "table",
            { class: "svcnb-stack" },
            tableHead("Started", "Status", "Duration", "Attempt", "Error"),
            body,
          ),
        ),
        full,
      );
      element.hidden = false;
      await look(trigger);
    },
    close(id) {
      if (open?.id === id) stop();
    },
    offer(triggers) {
      if (open && !triggers.some(({ id }) => id === open?.id)) stop();
    },
    end: stop,
  };
}
