/** Part of the panel in which the user chooses and connects a browser wallet. */
import { h, type Panel, PanelError } from "../../lib/panel.ts";
import { type Chain, connect, discover, requireChain, type Wallet } from "../../lib/wallet.ts";

type Connected = (address: string, name: string) => void;

export class BrowserWallet {
  readonly element: HTMLElement;
  readonly stop: () => void;
  private readonly listeners = new Set<Connected>();
  private readonly list: HTMLElement;
  private readonly state: HTMLElement;
  private wallets: Wallet[] = [];
  private chosen: { wallet: Wallet; address: string } | undefined;

  constructor(private readonly panel: Panel) {
    this.list = h("div", { class: "svcnb-row" });
    this.state = h("p", { role: "status", class: "svcnb-muted" });
    this.element = h("div", {}, this.list, this.state);
    this.show();
    this.stop = discover((wallets) => {
      this.wallets = wallets;
      this.list.replaceChildren(...wallets.map((wallet) => this.choice(wallet)));
      this.show();
    });
  }

  /** Address of the connected wallet. Empty if no wallet is connected. */
  get address(): string {
    return this.chosen?.address ?? "";
  }

  /** Calls a function when a wallet connects or changes its account. Returns a function that removes the callback. */
  onConnected(listener: Connected): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Connects the given wallet, or the first wallet. */
  async connect(
    chain?: Chain,
    wallet: Wallet | undefined = this.wallets[0],
  ): Promise<{ address: string; name: string }> {
    if (!wallet) {
      throw new PanelError({
        type: "NoWallet",
        message: "No wallet was found in this browser.",
        hint: "Install or unlock a wallet extension and reload the page, or sign with a private key.",
      });
    }
    const address = await connect(wallet);
    if (chain) await requireChain(wallet, chain);
    this.chosen = { wallet, address };
    wallet.provider.on?.("accountsChanged", (accounts) => this.changed(wallet, accounts as string[]));
    await this.tell(address, wallet.name);
    return { address, name: wallet.name };
  }

  /** Returns the connected wallet. Connects a wallet first if none is connected, and makes the wallet use a chain. */
  async ready(chain?: Chain): Promise<{ wallet: Wallet; address: string }> {
    if (!this.chosen) await this.connect();
    const chosen = this.chosen!;
    if (chain) await requireChain(chosen.wallet, chain);
    return chosen;
  }

  private changed(wallet: Wallet, accounts: string[]): void {
    if (this.chosen?.wallet !== wallet) return;
    const address = accounts[0];
    this.chosen = address ? { wallet, address } : undefined;
    void this.tell(address ?? "", address ? wallet.name : "");
  }

  private async tell(address: string, name: string): Promise<void> {
    await this.panel.call("connected", { address, name }, "Connecting");
    this.show();
    if (address) { for (const listener of [...this.listeners]) listener(address, name); }
  }

  private choice(wallet: Wallet): HTMLElement {
    return this.panel.button(`Connect ${wallet.name}`, () => this.connect(undefined, wallet));
  }

  /** Shows the state of the wallet. Does not replace the buttons, because one of them can have the focus. */
  private show(): void {
    this.state.textContent = this.chosen
      ? `${this.chosen.wallet.name} is connected: ${this.chosen.address}`
      : this.wallets.length
      ? "No wallet is connected yet."
      : "No wallet was found in this browser. Install or unlock a wallet extension and reload the page.";
  }
}
