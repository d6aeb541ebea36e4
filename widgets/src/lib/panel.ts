/**
 * Browser side of every panel: a frame with a heading, a status line with Cancel, and a box for failures. A drawer
 * shows the user's steps as Python code.
 */
import { clearFieldError, copyable, copyButton, fieldError, h, shortened, uniqueId } from "./dom.ts";
import { type Failure, failureOf, type Model, PanelError, Wire } from "./wire.ts";

export { copyable, copyButton, field, h, refill, uniqueId } from "./dom.ts";
export { type Ask, type Failure, failureOf, type Model, PanelError } from "./wire.ts";

/** Default export of a panel's file: `export default panel("Title", (panel) => { ... });` */
export interface Widget {
  render(context: { model: Model; el: HTMLElement }): () => void;
}

/** Function that fills a panel. It can return a function, which runs when the view closes. */
export type Fill = (panel: Panel) => void | (() => void);

/** Creates the widget of a panel. */
export function panel(title: string, fill: Fill): Widget {
  return {
    render({ model, el }) {
      const made = new Panel(model, el, title);
      const ended = fill(made);
      made.wire.open();
      return () => {
        ended?.();
        made.close();
      };
    },
  };
}

/** Data from the kernel about the session that all panels of a client share. */
export interface Session {
  mode: "" | "api" | "chain";
  address: string;
  balance: string;
  run_key: string;
  has_key: boolean;
}

export type Change = "account" | "resources" | "key" | "runs" | "balance" | "code";

/** Error for an invalid input, which the panel shows next to the field. */
export class FieldError extends Error {
  constructor(readonly control: HTMLElement, message: string) {
    super(message);
  }
}

/** Returns the text in a field, without surrounding spaces. */
export function typed(control: HTMLInputElement | HTMLTextAreaElement, otherwise: string): string {
  const text = control.value.trim();
  if (!text) throw new FieldError(control, otherwise);
  return text;
}

/** Controls by name. The Python side uses these names to report which value is wrong. */
export type Fields = Record<string, HTMLElement>;

/** Event that requests another panel from the workbench around a panel, if there is one. */
export const SHOW_PANEL = "svcnb-show-panel";

/** Time after which the status line shows a running operation, in milliseconds. */
const QUIET_MS = 200;

export class Panel {
  readonly wire: Wire;
  /** Element for the content of the panel. */
  readonly body: HTMLElement;
  readonly root: HTMLElement;
  private readonly status: HTMLElement;
  private readonly stop: HTMLButtonElement;
  private readonly failures: HTMLElement;
  private readonly silence: HTMLElement;
  /** Type of the displayed failure. Empty if there is none. */
  private failed = "";
  private balance: string | undefined;
  private quiet: ReturnType<typeof setTimeout> | undefined;
  private readonly onVisible = new Set<() => void>();
  private readonly onChanges: ((changed: Set<Change>, session: Session) => void)[] = [];
  private readonly sight: IntersectionObserver | undefined;
  private inSight = typeof IntersectionObserver === "undefined";

  constructor(readonly model: Model, el: HTMLElement, title: string) {
    this.wire = new Wire(model);
    const heading = uniqueId("heading");
    this.status = h("span", { class: "svcnb-status", role: "status" });
    this.stop = h("button", {
      type: "button",
      class: "svcnb-quiet",
      hidden: true,
      onclick: () => this.wire.running.forEach((running) => running.cancel()),
    }, "Cancel");
    this.failures = h("div", { role: "alert" });
    this.silence = h("div", { role: "alert" });
    this.body = h("div", { class: "svcnb-body" });
    // Disable Jupyter's shortcuts, so that a typed letter is only input.
    this.root = h(
      "section",
      { class: "svcnb-panel", "aria-labelledby": heading, "data-lm-suppress-shortcuts": "true" },
      h("header", { class: "svcnb-head" }, h("h2", { id: heading }, title), this.status, this.stop),
      this.silence,
      this.failures,
      this.body,
      this.codeDrawer(),
    );
    // Jupyter checks the focused element before its parents, so the element itself needs this attribute. Otherwise the
    // arrow keys, which select radio buttons, would move to the next cell.
    this.root.addEventListener("focusin", ({ target }) => {
      if (target instanceof Element) target.setAttribute("data-lm-suppress-shortcuts", "true");
    });
    this.wire.onChange = () => this.showRunning();
    this.wire.onSilence = (failure) => this.silence.replaceChildren(...(failure ? [failureBox(failure)] : []));
    this.wire.onTell("session", ({ changed, session }) => {
      const { balance } = session as Session;
      // The account has new credit, so the message about missing credit is out of date.
      if (this.balance !== undefined && balance !== this.balance && this.failed === "OutOfCredit") this.clearFailure();
      this.balance = balance;
      for (const heard of this.onChanges) heard(new Set(changed as Change[]), session as Session);
    });
    el.append(this.root);
    if (typeof IntersectionObserver !== "undefined") {
      this.sight = new IntersectionObserver((seen) => {
        this.inSight = seen.at(-1)!.isIntersecting;
        this.seen();
      });
      this.sight.observe(this.root);
    }
    document.addEventListener("visibilitychange", this.seen);
  }

  /** Whether the panel is visible: its tab is open, and the panel is in the visible part of the page. */
  get visible(): boolean {
    return this.inSight && !document.hidden;
  }

  /** Calls a function each time the panel becomes visible. */
  whenVisible(back: () => void): void {
    this.onVisible.add(back);
  }

  private readonly seen = () => {
    if (this.visible) { for (const back of [...this.onVisible]) back(); }
  };

  /** Calls a function after each change of the session, with the changes and the new state. */
  onSession(heard: (changed: Set<Change>, session: Session) => void): void {
    this.onChanges.push(heard);
  }

  /** Calls `read` after one of the given changes, or as soon as the panel is visible again. */
  rereads(changes: Change[], read: () => void): void {
    let due = false;
    const go = () => {
      if (!due || !this.visible) return;
      due = false;
      read();
    };
    this.onSession((changed) => {
      due ||= changes.some((change) => changed.has(change));
      go();
    });
    this.whenVisible(go);
  }

  /** Returns a value of the widget's state. */
  get<T>(name: string): T {
    return (this.model.get(name) ?? null) as T; // a kernel that runs in the page sends None as undefined
  }

  /** Calls a function with a value of the widget's state, immediately and after each change. */
  watch<T>(name: string, changed: (value: T) => void): void {
    this.model.on(`change:${name}`, () => changed(this.get<T>(name)));
    changed(this.get<T>(name));
  }

  /** Performs a command of the Python side. A failed command rejects with a `PanelError`. */
  call<T = unknown>(name: string, args: Record<string, unknown> = {}, label?: string): Promise<T> {
    return this.wire.call<T>(name, args, label);
  }

  /**
   * Creates a button for an asynchronous operation, during which the button is inactive. The panel shows failures.
   */
  button(
    label: string,
    work: () => Promise<unknown>,
    options: { kind?: "primary" | "quiet" | "danger"; fields?: Fields } = {},
  ) {
    const button = h("button", { type: "button", class: options.kind ? `svcnb-${options.kind}` : null }, label);
    button.addEventListener("click", () => {
      if (button.getAttribute("aria-disabled") === "true") return;
      // Not `disabled`, because the button would then lose the focus of keyboard users.
      button.setAttribute("aria-disabled", "true");
      button.setAttribute("aria-busy", "true");
      this.attempt(work, options.fields).finally(() => {
        button.removeAttribute("aria-disabled");
        button.removeAttribute("aria-busy");
      });
    });
    return button;
  }

  /**
   * Performs an operation and shows its failure. Returns true after a success. Reports a wrong value next to its field.
   */
  async attempt(work: () => Promise<unknown>, fields: Fields = {}): Promise<boolean> {
    this.clearFailure();
    for (const control of Object.values(fields)) clearFieldError(control);
    try {
      await work();
      return true;
    } catch (error) {
      if (error instanceof FieldError) fieldError(error.control, error.message);
      else if (error instanceof PanelError && fields[error.field]?.isConnected) {
        fieldError(fields[error.field]!, sentence(error));
      } else this.showFailure(error);
      return false;
    }
  }

  /** Shows a failure and its hint until the next attempt, or until the user closes the message. */
  showFailure(error: unknown): void {
    const failure = failureOf(error);
    this.failed = failure.type;
    const box = failureBox(failure, () => this.clearFailure(), this.root);
    this.failures.replaceChildren(box);
    if (failure.wallet) void this.offerGas(box, failure.wallet);
    box.scrollIntoView?.({ block: "nearest" });
  }

  /**
   * Shows the address of a wallet without gas. On an emulator, also shows a button that adds test ETH to the wallet.
   */
  private async offerGas(box: HTMLElement, address: string): Promise<void> {
    const row = h("div", { class: "svcnb-row" }, copyable(address, "the wallet's address"));
    box.firstElementChild!.append(row);
    if (!(await this.call<boolean>("has_faucet").catch(() => false))) return;
    row.append(this.button("Add test ETH", async () => {
      const added = await this.call<string>("fund", { address }, "Adding test ETH");
      const note = h("p", { class: "svcnb-good", tabindex: "-1" }, `✓ ${added} added to the wallet. Try again.`);
      this.failures.replaceChildren(note);
      note.focus();
    }));
  }

  clearFailure(): void {
    this.failed = "";
    this.failures.replaceChildren();
  }

  /** Shows a text in the status line, which screen readers announce. */
  say(text: string): void {
    this.status.textContent = text;
  }

  close(): void {
    clearTimeout(this.quiet);
    this.sight?.disconnect();
    document.removeEventListener("visibilitychange", this.seen);
    this.wire.close();
    this.root.remove();
  }

  private showRunning(): void {
    const running = this.wire.running.at(-1);
    clearTimeout(this.quiet);
    if (!running) {
      this.stop.hidden = true;
      this.root.removeAttribute("aria-busy");
      if (this.status.dataset.busy) this.say("");
      delete this.status.dataset.busy;
      return;
    }
    const show = () => {
      this.status.dataset.busy = "yes";
      this.say(`${running.progress || running.label} …`);
      this.root.setAttribute("aria-busy", "true");
      this.stop.hidden = false;
    };
    if (this.status.dataset.busy) show();
    else this.quiet = setTimeout(show, QUIET_MS);
  }

  private codeDrawer(): HTMLElement {
    const code = h("code");
    const show = (text: unknown) => code.textContent = String(text);
    const drawer = h(
      "details",
      { class: "svcnb-code" },
      h("summary", {}, "Show Python code"),
      h("pre", { tabindex: "0", "aria-label": "Operations of this panel as Python code" }, code),
      copyButton(() => code.textContent ?? ""),
    );
    this.wire.onTell("code", ({ code }) => show(code));
    drawer.addEventListener("toggle", () => {
      if (drawer.open) this.attempt(async () => show((await this.call<{ code: string }>("code")).code));
    });
    return drawer;
  }
}

function sentence({ message, hint }: PanelError): string {
  // Do not change the first word if it can be the name of a file or of a value.
  const said = /^[a-z]+ /.test(message) ? `${message.slice(0, 1).toUpperCase()}${message.slice(1)}` : message;
  return hint ? `${said.replace(/[.]$/, "")}. ${hint}` : said;
}

function failureBox(failure: Failure, close?: () => void, root?: HTMLElement): HTMLElement {
  const { message, hint, consequences = [], place } = failure;
  const around = root?.parentElement?.closest(".svcnb-panel") ?? null;
  const isElsewhere = around !== null && place && root?.querySelector("h2")?.textContent !== place;
  return h(
    "div",
    { class: "svcnb-failure" },
    h(
      "div",
      {},
      h("strong", {}, ...shortened(message)),
      consequences.length > 0 && h("ul", {}, ...consequences.map((text) => h("li", {}, text))),
      hint && h("p", {}, hint),
      isElsewhere && h("button", {
        type: "button",
        onclick: () => around!.dispatchEvent(new CustomEvent(SHOW_PANEL, { detail: place })),
      }, `Open ${place}`),
    ),
    close &&
      h("button", { type: "button", class: "svcnb-quiet", "aria-label": "Close this message", onclick: close }, "×"),
  );
}
