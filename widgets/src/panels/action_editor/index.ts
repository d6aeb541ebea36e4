/** Action editor, which shows an action's CID during editing, runs the action, and shows the result. */
import type { Editor, Mark, Module, Names, Options } from "../../codemirror/interface.ts";
import { changeBetween } from "../../lib/change.ts";
import { cid, hashedCid, sourceBytes } from "../../lib/cid.ts";
import { codeEditor } from "../../lib/code_editor.ts";
import { field, h, type Panel, panel, PanelError, type Widget } from "../../lib/panel.ts";
import { mountPlain } from "../../lib/plain_editor.ts";
import { repairCards, type Repairs } from "../../lib/repairs.ts";
import { followResources, NOTHING, offer, type Resources } from "../../lib/resources.ts";
import { deriveCard } from "./derive.ts";
import { identity } from "./identity.ts";
import { type Account, standing } from "./standing.ts";
import { type Outcome, outcome } from "./outcome.ts";
import { lacksWallet, runWith } from "./run_with.ts";
import { verifyPart } from "./verify.ts";

interface Setup {
  names: Names;
  base: string;
  params: string;
  name: string;
  has_key: boolean;
  examples: { name: string; source: string; params: string }[];
}

interface Explained extends Repairs {
  permitted: boolean;
  reason: string;
  key: string;
  /** Id of the group in which only the action or the wallet is missing. 0 if there is none. */
  group: number;
}

/** Pause after the last key press before the editor sends the text to the kernel, in milliseconds. */
const PAUSE_MS = 250;

export type Load = (at: Panel) => Promise<Module>;

/** Creates the panel. Tests pass a different function that loads the editor. */
export function actionEditor(load: Load): Widget {
  return panel("Action editor", (at) => {
    const view = new View(at, load);
    return () => view.close();
  });
}

class View {
  private readonly editors: Editor[] = [];
  private readonly identity = identity(() => this.rebase());
  private readonly standing;
  private readonly results = h("div", { "aria-live": "polite" });
  private readonly stale = h("p", { class: "svcnb-notice svcnb-stale", role: "status", hidden: true });
  private readonly example = h("select");
  private readonly cancel = h("button", { type: "button", hidden: true }, "Cancel");
  private readonly running = h("span", { class: "svcnb-muted", role: "status" });
  private readonly with;
  private readonly verify;
  private readonly derive;
  private examples: Setup["examples"] = [];
  private resources: Resources = NOTHING;
  private ran: { source: string; params: string } | null = null;
  private readonly notes = h("p", { class: "svcnb-hint", hidden: true });
  private readonly jsonNote = h("p", { class: "svcnb-bad", role: "alert", hidden: true });
  private readonly name = h("input", { type: "text", autocomplete: "off", placeholder: "increment" });
  private readonly runButton: HTMLButtonElement;
  private source: Editor;
  private params: Editor;
  private base = "";
  private marks: Mark[] = [];
  private pause: ReturnType<typeof setTimeout> | undefined;
  private closed = false;
  private readResources: () => Promise<void> = () => Promise.resolve();

  constructor(private readonly at: Panel, load: Load) {
    const editorHost = h("div", { class: "svcnb-editor" });
    const paramsHost = h("div", { class: "svcnb-editor svcnb-editor-small" });
    const submit = () => this.runButton.click();
    const text = at.get<string>("source");
    this.source = this.mounted(mountPlain, editorHost, {
      text,
      label: "Source of the action",
      language: "javascript",
      changed: (now) => this.typed(now),
      submit,
    });
    this.params = this.mounted(mountPlain, paramsHost, {
      text: "",
      label: "Parameters",
      language: "json",
      changed: () => this.paramsTyped(),
      submit,
    });
    const fields = { source: editorHost, params: paramsHost };
    this.runButton = at.button("Run", () => this.run(), { kind: "primary", fields });
    this.with = runWith(at, {
      params: () => this.params.text(),
      setParams: (text) => this.params.replace(text),
      resources: () => this.resources,
      keyChanged: () => this.outdate("another key was chosen"),
    });
    this.verify = verifyPart(at);
    this.derive = deriveCard(at, () => this.source.text(), (derived) => {
      this.source.replace(derived);
      this.source.focus();
    });
    this.standing = standing(() => at.call<Account>("look_up", {}, "Reading the account"), at, {
      source: () => this.source.text(),
      wallet: () => this.with.wallet(),
      name: this.name,
      editor: editorHost,
      registered: () => this.rebase(),
      resources: () => this.resources,
    });
    const use = h("button", { type: "button", onclick: () => this.useExample() }, "Use this example");
    at.body.append(
      h("div", { class: "svcnb-row" }, field("Example", this.example), use),
      steps(),
      editorHost,
      this.notes,
      h("div", { class: "svcnb-columns" }, this.identity.element, this.standing.element),
      h(
        "div",
        { class: "svcnb-card" },
        h("h3", {}, "Parameters"),
        h(
          "small",
          { class: "svcnb-hint" },
          "JSON that main receives. The caller controls the whole JSON value. This field can be empty.",
        ),
        paramsHost,
        this.jsonNote,
        this.with.walletPart,
        this.with.keyPart,
        h(
          "div",
          { class: "svcnb-row" },
          this.runButton,
          this.cancel,
          this.running,
          at.button("Check permission", () => this.explain(), { kind: "quiet" }),
          h(
            "span",
            { class: "svcnb-muted" },
            "Ctrl-Enter also runs the action. A run costs one cent per second, and at least one cent. A failed run is free.",
          ),
        ),
        this.stale,
        this.results,
        this.verify.element,
      ),
      this.derive.element,
    );
    const follow = followResources(at, (found) => {
      this.resources = found;
      this.with.offer(found);
      this.standing.offer(found);
    });
    this.readResources = follow.read;
    at.onSession((changed, session) => {
      if (changed.has("account")) this.outdate("another account was opened");
      if (session.mode === "" && !session.has_key) this.standing.closed();
    });
    at.rereads(["account", "resources"], () => this.standing.read());
    this.show(text);
    at.model.on("change:source", this.followed as never);
    this.begin(load, editorHost, paramsHost, submit);
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.pause);
    this.at.model.off("change:source", this.followed as never);
    for (const editor of this.editors) editor.destroy();
  }

  /** Handles a change of the source in another view or in Python. */
  private readonly followed = () => {
    const text = this.at.get<string>("source");
    if (text !== this.source.text()) this.source.replace(text);
  };

  private async begin(load: Load, editorHost: HTMLElement, paramsHost: HTMLElement, submit: () => void): Promise<void> {
    const { at } = this;
    await at.attempt(async () => {
      const setup = await at.call<Setup>("setup", {}, "Opening the editor");
      if (this.closed) return;
      this.base = setup.base;
      this.name.value = setup.name;
      this.params.replace(setup.params);
      this.show(this.source.text());
      this.examples = setup.examples;
      offer(this.example, setup.examples.map(({ name }, index) => [String(index), name]));
      if (setup.has_key || (await at.call<{ mode: string }>("shared")).mode) {
        void this.readResources().catch(() => {});
        this.standing.read();
      } else this.standing.closed();
      const { mount } = await load(at);
      if (this.closed) return;
      const begun = { source: this.source, params: this.params };
      const focused = begun.source.hasFocus();
      this.source = this.mounted(mount, editorHost, {
        text: begun.source.text(),
        label: "Source of the action",
        language: "javascript",
        names: setup.names,
        changed: (now) => this.typed(now),
        submit,
      });
      this.params = this.mounted(mount, paramsHost, {
        text: begun.params.text(),
        label: "Parameters",
        language: "json",
        changed: () => this.paramsTyped(),
        submit,
      });
      begun.source.destroy();
      begun.params.destroy();
      if (focused) this.source.focus();
      this.show(this.source.text());
      at.root.dataset.ready = "yes";
      await this.look();
    });
  }

  private mounted(mount: Module["mount"], host: HTMLElement, options: Options): Editor {
    const editor = mount(host, options);
    this.editors.push(editor);
    return editor;
  }

  private typed(now: string): void {
    this.show(now);
    this.derive.clear();
    if (this.ran && now !== this.ran.source) this.outdate("the source has changed");
    this.later();
  }

  private paramsTyped(): void {
    if (this.ran && this.params.text() !== this.ran.params) this.outdate("the parameters have changed");
    this.later();
  }

  /** Marks the result as out of date. */
  private outdate(why: string): void {
    if (!this.ran || this.results.childElementCount === 0) return;
    this.ran = null;
    this.stale.textContent = `Out of date: ${why} since this run.`;
    this.stale.hidden = false;
    this.results.classList.add("svcnb-outdated");
  }

  private fresh(...shown: HTMLElement[]): void {
    this.stale.hidden = true;
    this.results.classList.remove("svcnb-outdated");
    this.results.replaceChildren(...shown);
  }

  private useExample(): void {
    const chosen = this.examples[Number(this.example.value)];
    if (!chosen) return;
    this.source.replace(chosen.source);
    this.params.replace(chosen.params);
    this.rebase(); // the example is the new starting point, not a change to the previous action
    this.source.focus();
  }

  /** Immediately shows everything that depends only on the bytes of the source. */
  private show(text: string): void {
    const bytes = sourceBytes(text);
    const id = cid(bytes);
    const hashed = hashedCid(id);
    const change = changeBetween(this.base, text);
    this.identity.show(id, hashed, bytes.length, change);
    this.standing.show(hashed);
    this.source?.markChange(change);
  }

  /** Sends the changes to the kernel after a pause. */
  private later(): void {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => this.tell(), PAUSE_MS);
  }

  private tell(): void {
    const { model } = this.at;
    clearTimeout(this.pause);
    if (model.get("source") !== this.source.text()) {
      model.set("source", this.source.text());
      model.save_changes();
    }
    this.checkParams();
    this.at.call("keep", { params: this.params.text(), name: this.name.value }).catch(() => {});
    this.look().catch(() => {}); // the panel reports a stopped kernel when the user makes a request
  }

  private async look(): Promise<void> {
    const source = this.source.text();
    const { marks, missing } = await this.at.call<{ marks: Mark[]; missing: string }>("lint", { source });
    if (this.closed || source !== this.source.text()) return;
    this.marks = marks;
    this.source.mark(marks);
    const errors = marks.filter(({ severity }) => severity === "error").length;
    const told = [count(errors, "error"), count(marks.length - errors, "warning")].filter(Boolean).join(" and ");
    this.notes.hidden = !missing && !told;
    this.notes.textContent = missing ||
      `The linter found ${told}: ${marks.map(({ line, message }) => `line ${line}: ${message}`).join("; ")}.`;
  }

  private checkParams(): boolean {
    const text = this.params.text();
    this.jsonNote.hidden = true;
    if (!text.trim()) return true;
    try {
      JSON.parse(text);
      return true;
    } catch (error) {
      this.jsonNote.textContent = `The parameters are not valid JSON: ${(error as Error).message}`;
      this.jsonNote.hidden = false;
      this.outdate("the parameters have become invalid JSON");
      return false;
    }
  }

  private async run(): Promise<void> {
    this.tell();
    if (!this.checkParams()) {
      this.params.focus();
      return;
    }
    this.with.requireKey();
    const args = { source: this.source.text(), params: this.params.text() };
    this.fresh();
    this.verify.clear();
    this.ran = args;
    const begun = performance.now();
    const call = this.at.call<Outcome>("run", args, "Running");
    const running = this.at.wire.running.at(-1);
    this.cancel.onclick = () => running?.cancel();
    this.cancel.hidden = false;
    const tick = () => {
      const seconds = Math.floor((performance.now() - begun) / 1000);
      this.running.textContent = `Running … ${seconds > 0 ? `${seconds} s` : ""}`;
    };
    tick();
    const timer = setInterval(tick, 1_000);
    let found: Outcome;
    try {
      found = await call;
    } catch (error) {
      if (error instanceof PanelError && error.type === "Forbidden") this.fresh(this.forbidden());
      throw error;
    } finally {
      clearInterval(timer);
      this.cancel.hidden = true;
      this.running.textContent = "";
    }
    const missing = !found.ok && lacksWallet(args.params)
      ? [
        h(
          "p",
          { class: "svcnb-notice" },
          "The parameters contain no wallet. Choose a wallet under Wallet, or press Create wallet.",
        ),
      ]
      : [];
    this.fresh(...missing, outcome(found, (line, column) => this.source.goTo(line, column)));
    if (found.ok) this.verify.offer(found.response, args.params);
    if (args.source !== this.source.text() || args.params !== this.params.text()) {
      this.outdate("the source or the parameters have changed");
    }
    if (!found.ok && found.line !== null && args.source === this.source.text()) {
      const thrown: Mark = {
        line: found.line,
        column: found.column ?? 1,
        severity: "error",
        message: found.name ? `${found.name}: ${found.message}` : found.message,
      };
      this.source.mark([...this.marks, thrown]);
    }
  }

  private async explain(): Promise<void> {
    const args = { source: this.source.text(), wallet: this.with.wallet() };
    const found = await this.at.call<Explained>("explain", args, "Reading groups and keys");
    const { permitted, reason, key, group } = found;
    this.ran = { source: args.source, params: this.params.text() };
    this.fresh(
      h("h3", { class: permitted ? "svcnb-good" : "svcnb-bad" }, permitted ? "✓ Permitted" : "✗ Not permitted"),
      h("p", {}, `Key ${key}: ${reason}.`),
      ...(group ? [h("div", { class: "svcnb-row" }, this.standing.permitter(group))] : []),
      ...repairCards(found),
    );
  }

  /** Suggests an explanation if the key cannot run the action. */
  private forbidden(): HTMLElement {
    return h("div", { class: "svcnb-row" }, this.at.button("Explain the error", () => this.explain()));
  }

  /** Makes the current text the starting point for changes. */
  private rebase(): void {
    this.base = this.source.text();
    this.show(this.base);
  }
}

/** Steps from an empty account to a verified signature, with the names of the buttons. */
function steps(): HTMLElement {
  return h(
    "details",
    {},
    h("summary", {}, "Steps to a first signature"),
    h(
      "ol",
      {},
      ...[
        'Under "Example", choose "Sign a message with a wallet" and press "Use this example".',
        `Under "Parameters", press "Create wallet". The panel adds the wallet's address to the parameters.`,
        'Under "In this account", enter a name for the action and press "Register".',
        'Press "Create group", then "Permit in group". The group permits the action and the wallet.',
        'Press "Create usage key". The key can only run the actions of this group. Store the key.',
        'Press "Run", then "Check the signature".',
      ].map((text) => h("li", {}, text)),
    ),
  );
}

function count(number: number, what: string): string {
  return number === 0 ? "" : `${number} ${what}${number === 1 ? "" : "s"}`;
}

export default actionEditor((at) => codeEditor((name, args, label) => at.call(name, args, label)));
