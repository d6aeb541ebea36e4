/** Signer of a message. The kernel recovers the signer from the signature, and compares it with the wallets. */
import { copyable, field, h, type Panel, typed } from "../../lib/panel.ts";

const SIGNATURE = /^0x[0-9a-f]{130}$/i;

interface Found {
  recovered: string;
  /** Name of the account's wallet that signed. Empty if another wallet signed. */
  wallet: string;
}

/** Returns a signature in a response, and the message that it most likely signs. */
export function signatureIn(response: string, params: string): { message: string; signature: string } | null {
  const [answered, given] = [read(response), read(params)];
  const members = typeof answered === "object" && answered !== null ? answered as Record<string, unknown> : {};
  const signature = [answered, ...Object.values(members)].find((value) =>
    typeof value === "string" && SIGNATURE.test(value)
  );
  if (signature === undefined) return null;
  const around = { ...(typeof given === "object" ? given as Record<string, unknown> : {}), ...members };
  const message = ["message", "text", "fact"].map((name) => around[name]).find((value) => typeof value === "string");
  return { message: String(message ?? ""), signature: String(signature) };
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

interface Verify {
  element: HTMLElement;
  /** Shows the signature of a response, if there is one. */
  offer(response: string, params: string): void;
  /** Removes the result and the signature of an earlier run. Input of the user stays. */
  clear(): void;
}

export function verifyPart(at: Panel): Verify {
  const message = h("textarea", { rows: "2", spellcheck: "false" });
  const signature = h("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder: "0x…" });
  const answer = h("div", { "aria-live": "polite" });
  const check = at.button("Check the signature", async () => {
    answer.replaceChildren();
    const args = { message: message.value, signature: typed(signature, "Paste a signature: 0x and 130 hex digits.") };
    const { recovered, wallet } = await at.call<Found>("verify", args, "Checking the signature");
    answer.replaceChildren(
      h(
        "p",
        { role: "status" },
        h(
          "strong",
          { class: wallet ? "svcnb-good" : "svcnb-warn" },
          wallet ? `✓ Signed by ${wallet} of this account` : "The signer is not a wallet of this account",
        ),
      ),
      h("p", {}, "Recovered address ", copyable(recovered, "the recovered address")),
    );
  }, { fields: { signature } });
  const element = h(
    "details",
    {},
    h("summary", {}, "Check a signature"),
    h(
      "div",
      { class: "svcnb-card" },
      h("small", { class: "svcnb-hint" }, "Recovers the signer's address from a message (EIP-191) and its signature."),
      field("Message", message),
      field("Signature", signature),
      h("div", { class: "svcnb-row" }, check),
      answer,
    ),
  );
  for (const input of [message, signature]) input.addEventListener("input", () => answer.replaceChildren());
  let offered: { message: string; signature: string } | null = null;
  return {
    element,
    offer(response, params): void {
      offered = signatureIn(response, params);
      if (!offered) return;
      message.value = offered.message;
      signature.value = offered.signature;
      answer.replaceChildren();
      element.open = true;
    },
    clear(): void {
      if (offered === null || signature.value !== offered.signature) return;
      message.value = signature.value = "";
      answer.replaceChildren();
      element.open = false;
      offered = null;
    },
  };
}
