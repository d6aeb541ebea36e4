/** Runs panel: a live table and charts of runs, and the timeline of a selected run. */
import { drawingArea } from "../../lib/drawing.ts";
import { h, type Panel, panel } from "../../lib/panel.ts";
import { charts, type Summary } from "./charts.ts";
import { type Detail, detail } from "./detail.ts";
import { type Choices, filterRow, type Filters } from "./filters.ts";
import { type Row, table } from "./table.ts";

interface Answer {
  state: string;
  rows?: Row[];
  summary?: Summary;
  choices?: Choices;
  sources?: { history: boolean; service: boolean; triggers: boolean };
}

/** Interval between two reads of the records while the panel is visible, in milliseconds. */
export const EVERY_MS = 2_000;

export default panel("Runs", (at) => {
  const view = new View(at);
  return () => view.close();
});

class View {
  private readonly filters;
  private readonly charts = h("div", { class: "svcnb-charts" });
  private readonly drawings = h("div", { class: "svcnb-drawings", "aria-live": "polite" });
  private readonly more = h("details", { hidden: true });
  private readonly empty = h("p", { class: "svcnb-muted", hidden: true });
  private readonly opened = h("div", { "aria-live": "polite" });
  private readonly table;
  private readonly pause: HTMLButtonElement;
  private isLive = true;
  private state = "";
  private timer: ReturnType<typeof setTimeout> | undefined;
  private failed = false;
  private closed = false;

  constructor(private readonly at: Panel) {
    this.filters = filterRow((chosen) => this.choose(chosen));
    this.table = table((id) => this.open(id));
    this.pause = h("button", { type: "button", onclick: () => this.toggle() }, "Pause updates");
    at.body.append(
      h(
        "div",
        { class: "svcnb-row" },
        this.pause,
        at.button("Refresh", () => this.read(), { kind: "quiet" }),
      ),
      this.filters.element,
      this.charts,
      this.more,
      this.empty,
      this.table.element,
      this.opened,
    );
    this.more.append(
      h("summary", {}, "More charts"),
      at.button("Update charts", () => this.draw(), { kind: "quiet" }),
      this.drawings,
    );
    this.more.addEventListener("toggle", () => {
      if (this.more.open && this.drawings.childElementCount === 0) this.at.attempt(() => this.draw());
    });
    at.watch<Filters>("filters", (filters) => this.filters.set(filters));
    at.whenVisible(() => void this.follow());
    at.rereads(["account", "resources", "runs"], () => void this.follow());
    this.follow(true);
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
  }

  private toggle(): void {
    this.isLive = !this.isLive;
    this.pause.textContent = this.isLive ? "Pause updates" : "Resume updates";
    this.follow();
  }

  /** Reads the runs repeatedly. Shows a failure once, and continues with the next read. */
  private async follow(first = false): Promise<void> {
    clearTimeout(this.timer);
    if (this.closed || (!first && (!this.isLive || !this.at.visible))) return;
    try {
      await this.read();
      if (this.failed) this.at.clearFailure();
      this.failed = false;
    } catch (error) {
      if (!this.failed && !this.closed) this.at.showFailure(error);
      this.failed = true;
    }
    if (!this.closed) this.timer = setTimeout(() => this.follow(), EVERY_MS);
  }

  private async read(): Promise<void> {
    const answer = await this.at.call<Answer>("read", { seen: this.state }, "Reading the runs");
    this.state = answer.state;
    if (this.closed || !answer.rows || !answer.summary || !answer.choices) return;
    this.filters.offer(answer.choices, answer.sources!);
    this.charts.replaceChildren(...charts(answer.summary));
    this.table.show(answer.rows, answer.summary.count);
    this.table.element.hidden = answer.rows.length === 0;
    this.more.hidden = answer.rows.length === 0;
    this.empty.hidden = answer.rows.length > 0;
    this.empty.textContent = this.filters.isFiltering()
      ? "No runs match these filters."
      : "No runs yet. Run an action in an action editor, or in a cell: svc.run(action). The run then appears here.";
  }

  /** Requests the charts from the kernel. The charts take about a second, so this method runs only on request. */
  private async draw(): Promise<void> {
    const drawn = await this.at.call<string[]>("draw", {}, "Drawing the charts");
    this.drawings.replaceChildren(
      ...drawn.map((svg) => drawingArea(svg, "Chart")),
    );
  }

  private choose(chosen: Filters): Promise<unknown> {
    return this.at.attempt(async () => {
      await this.at.call("choose", { filters: chosen });
      this.state = "";
      await this.read();
    });
  }

  private open(id: string): Promise<unknown> {
    return this.at.attempt(async () => {
      const found = await this.at.call<Detail>("look_at", { number: id }, "Opening the run");
      const close = () => {
        this.opened.replaceChildren();
        this.table.open(null);
        this.table.focus(id);
      };
      this.opened.replaceChildren(detail(found, close));
      this.table.open(id);
      const heading = this.opened.querySelector("h3");
      heading?.focus();
      heading?.scrollIntoView?.({ block: "nearest" });
    });
  }
}
