/** Readable form of an envelope: an explanation of every field, the digest, and the validity period. */
import { h, tableHead } from "../../lib/dom.ts";
import { digest, type Envelope, type Flow } from "../../lib/typed_data.ts";

/** Purpose of each flow, in one sentence. */
export const PURPOSES: Readonly<Record<Flow, readonly [title: string, what: string]>> = {
  CreateWallet: [
    "Create a wallet",
    "The service creates a wallet and derives its private key. To add the wallet to an account, register it on the chain.",
  ],
  ConvertAccount: [
    "Convert an account",
    "The service converts an account in API mode to a ChainSecured account of this wallet. The conversion is irreversible.",
  ],
  AddUsageApiKey: [
    "Create a usage key",
    "The service creates a usage key. The key has no permissions until it is registered on the chain.",
  ],
  BillingAuth: ["Use billing", "The X-Wallet-Auth header authenticates billing requests without a key."],
};

const EXPLAINED: Readonly<Record<string, string>> = {
  "domain.name": "Name of the service. Other services reject the signature.",
  "domain.version": "Version of the domain, always 1.",
  "domain.chainId": "Chain id of the node. The service rejects signatures for other chains.",
  "primaryType": "Flow of the envelope. A signature is valid for one flow only.",
  "types": "Names and types of the fields. Their order is part of the hash.",
  "message.address": "Wallet that signs. The signature must belong to this wallet.",
  "message.issuedAt": "Time of the signature, in Unix seconds. This time is the only protection against replay.",
};

/** Returns the rows of the table for an envelope. */
export function rows(envelope: Envelope): [name: string, value: string, meaning: string][] {
  const fields = envelope.types[envelope.primaryType] ?? [];
  const values: [string, string][] = [
    ["domain.name", envelope.domain.name],
    ["domain.version", envelope.domain.version],
    ["domain.chainId", envelope.domain.chainId],
    ["primaryType", envelope.primaryType],
    ["types", `${envelope.primaryType}(${fields.map(({ name, type }) => `${type} ${name}`).join(", ")})`],
    ["message.address", envelope.message.address],
    ["message.issuedAt", `${envelope.message.issuedAt} · ${moment(envelope.message.issuedAt)}`],
  ];
  return values.map(([name, value]) => [name, value, EXPLAINED[name] ?? ""]);
}

export function table(envelope: Envelope): HTMLElement {
  return h(
    "div",
    { class: "svcnb-scroll", tabindex: "0", role: "group", "aria-label": "The envelope, field by field" },
    h(
      "table",
      { class: "svcnb-envelope svcnb-stack" },
      tableHead("Field", "Value", "Meaning"),
      h(
        "tbody",
        {},
        ...rows(envelope).map(([name, value, meaning]) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, h("code", {}, name)),
            h("td", {}, h("code", {}, value)),
            h("td", { class: "svcnb-muted" }, meaning),
          )
        ),
      ),
    ),
  );
}

/** Returns the digest, or the reason why there is none. */
export function digestOf(envelope: Envelope): { text: string; ok: boolean } {
  try {
    return { text: digest(envelope), ok: true };
  } catch (error) {
    return { text: error instanceof Error ? error.message : String(error), ok: false };
  }
}

/**
 * Returns the remaining validity of an envelope as text. `left` and `windowS` are in seconds. `renewal` is the next step
 * of the user if the envelope is not valid.
 */
export function validity(
  left: number,
  windowS: number,
  renewal = "Press Use current time, and sign again.",
): { text: string; good: boolean } {
  if (left > 2 * windowS) {
    return { text: `The time is more than ${windowS} seconds in the future. ${renewal}`, good: false };
  }
  if (left <= 0) return { text: `The envelope has expired. ${renewal}`, good: false };
  const whole = Math.floor(left);
  return { text: `valid for ${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`, good: true };
}

function moment(seconds: string): string {
  const time = new Date(Number(seconds) * 1000);
  return Number.isNaN(time.getTime()) ? "invalid time" : time.toISOString().replace("T", " ").replace(".000Z", " UTC");
}
