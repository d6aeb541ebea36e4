/** Questions of the kernel before a signature. The panel first describes the data, and then asks the wallet. */
import { tableRow } from "../../lib/dom.ts";
import { type Ask, h, type Panel, PanelError } from "../../lib/panel.ts";
import type { Envelope } from "../../lib/typed_data.ts";
import { type Chain, sendTransaction, signTypedData } from "../../lib/wallet.ts";
import { digestOf, PURPOSES, table, validity } from "./envelope.ts";
import type { BrowserWallet } from "./browser_wallet.ts";

interface Write {
  what: string;
  function: string;
  arguments: [string, string][];
  sender: string;
  through: string;
  gas: number;
  cost: string;
  max_cost: string;
}

interface Decoded {
  known: boolean;
  what: string;
  function: string;
  arguments: [string, string][];
  to: string;
  through: string;
  value: string;
  max_cost: string;
}

/** Returns a table of names and values, without the empty values. */
function facts(rows: [string, string][]): HTMLElement {
  return h(
    "table",
    {},
    ...rows.filter(([, value]) => value).map(([name, value]) => tableRow(name, h("code", {}, value))),
  );
}

/** Shows each request in `place`. */
export function answerRequests(panel: Panel, place: HTMLElement, wallet: BrowserWallet): void {
  const card = (ask: Ask, title: string, content: (Node | null)[], accept: string, work: () => Promise<unknown>) => {
    const decline = h("button", { type: "button" }, "Decline");
    const before = document.activeElement;
    const done = () => {
      const focused = shown.contains(document.activeElement);
      shown.remove();
      // Return the focus to the previous element. Otherwise, it would move to the start of the page.
      if (focused && before instanceof HTMLElement && before.isConnected) before.focus();
    };
    decline.addEventListener("click", () => {
      done();
      ask.fail(
        new PanelError({
          type: "Declined",
          message: "the user declined the request in the panel",
          hint: "No data was signed or sent. To continue, repeat the call.",
        }),
      );
    });
    const button = panel.button(accept, async () => {
      let value: unknown;
      try {
        value = await work();
      } catch (error) {
        // The user can switch a wallet to the correct chain, and then try the same request again.
        if (error instanceof PanelError && error.type === "WrongChain") throw error;
        done();
        ask.fail(error);
        throw error;
      }
      done();
      ask.reply(value);
    }, { kind: "primary" });
    const heading = h("h3", { tabindex: "-1" }, title);
    const shown = h(
      "section",
      { class: "svcnb-card svcnb-request", "aria-label": title },
      heading,
      ...content,
      h("div", { class: "svcnb-row" }, button, decline),
    );
    ask.signal.addEventListener("abort", done);
    place.append(shown);
    heading.focus({ preventScroll: true });
    shown.scrollIntoView?.({ block: "nearest" });
    return { shown, button };
  };

  panel.wire.onAsk("connect", (ask) => {
    // The user can also answer the question with the panel's own button for the connection.
    const answered = wallet.onConnected((address, name) => ask.reply({ address, name }));
    ask.signal.addEventListener("abort", answered);
    card(
      ask,
      "Choose a wallet",
      wallet.element.isConnected
        ? [h("p", {}, "Choose a wallet below, or connect the first wallet now.")]
        : [h("p", {}, "Choose a wallet, or connect the first wallet now."), wallet.element],
      "Connect a wallet",
      () => wallet.connect(ask.args.chain as Chain | undefined),
    );
  });

  panel.wire.onAsk("sign", (ask) => {
    const typedData = ask.args.typed_data as Envelope;
    const windowS = Number(ask.args.window);
    const purpose = PURPOSES[typedData.primaryType as keyof typeof PURPOSES];
    const digest = digestOf(typedData);
    const countdown = h("p", { class: "svcnb-countdown" });
    // The envelope has the service's current time. From now on, the clock of this page measures its age.
    const until = performance.now() / 1000 + windowS;
    const { shown, button } = card(
      ask,
      `Signature needed: ${purpose?.[0] ?? typedData.primaryType}`,
      [
        h(
          "p",
          {},
          purpose?.[1] ??
            "This is not one of the four envelopes of the service. Sign it only if you understand its effect.",
        ),
        table(typedData),
        h("p", {}, "Digest ", h("code", {}, digest.text)),
        countdown,
      ],
      "Sign in the wallet",
      async () => {
        const chosen = await wallet.ready(ask.args.chain as Chain | undefined);
        return await signTypedData(chosen.wallet, chosen.address, typedData);
      },
    );
    const tick = () => {
      const { text, good } = validity(until - performance.now() / 1000, windowS, "Repeat the call in Python.");
      countdown.textContent = text;
      countdown.classList.toggle("svcnb-bad", !good);
      if (!good) button.setAttribute("aria-disabled", "true");
    };
    tick();
    const timer = setInterval(() => shown.isConnected ? tick() : clearInterval(timer), 1000);
    ask.signal.addEventListener("abort", () => clearInterval(timer));
  });

  panel.wire.onAsk("transaction", (ask) => {
    const told = ask.args.decoded as Decoded;
    card(
      ask,
      "Transaction to confirm",
      [
        h("p", {}, h("strong", {}, `This transaction will ${told.what}.`)),
        told.known ? null : h(
          "p",
          { class: "svcnb-warn" },
          "The panel cannot decode the call. Send it only if you understand its effect.",
        ),
        facts([
          ["Function", told.function],
          ...told.arguments,
          ["Contract", told.to],
          ["Through the contract wallet", told.through],
          ["Value", told.value],
          ["Maximum cost", told.max_cost],
        ]),
      ],
      "Send from the wallet",
      async () => {
        const chosen = await wallet.ready(ask.args.chain as Chain | undefined);
        return await sendTransaction(chosen.wallet, ask.args.fields as Record<string, unknown>);
      },
    );
  });

  // A key in the kernel signs. The user confirms the signature here, because such a key has no dialog, unlike a browser
  // wallet.
  panel.wire.onAsk("confirm", (ask) => {
    const write = ask.args as unknown as Write;
    card(
      ask,
      "Transaction to confirm",
      [
        h("p", {}, h("strong", {}, `This transaction will ${write.what}.`)),
        facts([
          ["Function", write.function],
          ...write.arguments,
          ["Wallet", write.sender],
          ["Signed by", write.through],
          ["Gas", write.gas.toLocaleString("en")],
          ["Estimated cost", write.cost],
          ["Maximum cost", write.max_cost],
        ]),
      ],
      "Sign and send",
      () => Promise.resolve(true),
    );
  });
}
