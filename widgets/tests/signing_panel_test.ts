/** Tests of the signing panel with a fake model and fake wallets, without a kernel and a browser. */
import { button, click, equal, FakeModel, find, open, settled } from "./fake.ts";
import signing from "../src/panels/signing/index.ts";
import { digestOf, rows, validity } from "../src/panels/signing/envelope.ts";
import { type Chain, connect, discover, requireChain, sendTransaction, type Wallet } from "../src/lib/wallet.ts";
import { type Envelope } from "../src/lib/typed_data.ts";
import { PanelError } from "../src/lib/panel.ts";

const { vectors } = JSON.parse(
  Deno.readTextFileSync(new URL("../../tests/vectors/eip712.json", import.meta.url)),
) as { vectors: { name: string; typed_data: Envelope; digest: string; address: string }[] };

const CHAIN: Chain = { id: 31337, name: "local", rpc: "http://127.0.0.1:1/rpc", token: "ETH" };

function setting(now = Date.now() / 1000) {
  return {
    client: true,
    signer: "",
    chain: CHAIN,
    domain: "Svc ChainSecured",
    now,
    window: 300,
    endpoints: {},
    has_key: false,
  };
}

/** Returns a fake wallet with prepared responses. A number is an error code. */
function wallet(answers: Record<string, unknown[]>, asked: string[] = []): Wallet {
  const request = ({ method }: { method: string }) => {
    asked.push(method);
    const answer = answers[method]?.shift();
    return typeof answer === "number"
      ? Promise.reject(Object.assign(new Error("told"), { code: answer }))
      : Promise.resolve(answer);
  };
  return { id: "1", name: "Fox", provider: { request } };
}

async function typeOf(work: Promise<unknown>): Promise<string> {
  return await work.then(() => "fine", (error: PanelError) => error.type);
}

for (const vector of vectors) {
  Deno.test(`the panel shows the digest of vector ${vector.name}`, () => {
    equal(digestOf(vector.typed_data), { text: vector.digest, ok: true });
    equal(rows(vector.typed_data).every(([, , meaning]) => meaning !== ""), true, "every field is explained");
  });
}

Deno.test("typed data without a digest shows the reason", () => {
  const data = structuredClone(vectors[0]!.typed_data);
  data.message.address = "0x12";
  equal(digestOf(data), {
    text: `invalid address ${JSON.stringify(data.message.address)}: expected 0x and 40 hex digits`,
    ok: false,
  });
});

Deno.test("the validity counts down, and times outside the permitted window are invalid", () => {
  equal(validity(299.9, 300), { text: "valid for 4:59", good: true });
  equal(validity(600, 300).good, true); // the limit is inclusive, as at the service
  equal(validity(601, 300).good, false);
  equal(validity(0, 300).text.includes("expired"), true);
});

Deno.test("the panel requests its settings, and uses the server's clock instead of the page's clock", async () => {
  const model = new FakeModel({ flow: "CreateWallet", wallet: {} });
  const { el, close } = open(signing, model);
  await model.answer(setting(1_767_225_600));
  equal((find<HTMLInputElement>(el, "input[inputmode=numeric]")).value, "1767225600");
  equal(find(el, ".svcnb-envelope").textContent!.includes("2026-01-01 00:00:00 UTC"), true);
  close();
});

Deno.test("if the node does not respond, the panel shows the failure and its hint", async () => {
  const model = new FakeModel({ flow: "CreateWallet", wallet: {} });
  const { el, close } = open(signing, model);
  await model.fail("nothing answers", "Start it");
  equal(find(el, ".svcnb-failure").textContent!.includes("Start it"), true);
  close();
});

Deno.test("the panel shows a complete request from Python before the signature, and the user can decline it", async () => {
  const model = new FakeModel({ flow: "CreateWallet", wallet: {} });
  const { el, close } = open(signing, model);
  await model.answer({ ...setting(), client: false });
  model.say({ type: "ask", id: "ask-1", name: "sign", args: { typed_data: vectors[0]!.typed_data, window: 300 } });
  equal(find(el, ".svcnb-request").textContent!.includes(vectors[0]!.digest), true);
  click(button(el, "Decline"));
  const { ok, error } = model.last("reply") as { ok: boolean; error: { message: string } };
  equal([ok, error.message], [false, "the user declined the request in the panel"]);
  equal(el.querySelector(".svcnb-request"), null);
  close();
});

/** Sends a request from Python for a transaction. `known` states whether Python could decode the call. */
function askFor(model: FakeModel, call: { known: boolean; what: string; function: string }): void {
  const decoded = { ...call, arguments: [], to: "0x1", through: "", value: "0 ETH", max_cost: "1 wei" };
  model.say({ type: "ask", id: "ask-1", name: "transaction", args: { fields: {}, decoded } });
}

Deno.test("a withdrawn request disappears", async () => {
  const model = new FakeModel({ flow: "CreateWallet", wallet: {} });
  const { el, close } = open(signing, model);
  await model.answer({ ...setting(), client: false });
  askFor(model, { known: true, what: "create group 'a'", function: "addGroup" });
  equal(find(el, ".svcnb-request").textContent!.includes("This transaction will create group 'a'."), true);
  model.say({ type: "settled", id: "ask-1" });
  equal(el.querySelector(".svcnb-request"), null);
  close();
});

Deno.test("the panel shows a warning for a call that cannot be decoded", async () => {
  const model = new FakeModel({ flow: "CreateWallet", wallet: {} });
  const { el, close } = open(signing, model);
  await model.answer({ ...setting(), client: false });
  askFor(model, { known: false, what: "make an unknown call", function: "" });
  equal(find(el, ".svcnb-request .svcnb-warn").textContent!.includes("cannot decode"), true);
  close();
});

Deno.test("each announced wallet is found once", () => {
  const found: string[][] = [];
  const stop = discover((wallets) => found.push(wallets.map(({ name }) => name)));
  const announce = (uuid: string, name: string) =>
    globalThis.dispatchEvent(
      new CustomEvent("eip6963:announceProvider", { detail: { info: { uuid, name }, provider: {} } }),
    );
  announce("1", "Fox");
  announce("1", "Fox");
  announce("2", "Rabbit");
  stop();
  announce("3", "Late");
  equal(found, [["Fox"], ["Fox", "Rabbit"]]);
});

Deno.test("a wallet on the right chain is not asked to switch", async () => {
  const asked: string[] = [];
  await requireChain(wallet({ eth_chainId: ["0x7a69"] }, asked), CHAIN);
  equal(asked, ["eth_chainId"]);
});

Deno.test("if a wallet does not have the chain, the panel adds the chain to the wallet", async () => {
  const asked: string[] = [];
  const answers = {
    eth_chainId: ["0x1", "0x7a69"],
    wallet_switchEthereumChain: [4902],
    wallet_addEthereumChain: [null],
  };
  await requireChain(wallet(answers, asked), CHAIN);
  equal(asked, ["eth_chainId", "wallet_switchEthereumChain", "wallet_addEthereumChain", "eth_chainId"]);
});

Deno.test("the panel reports the wrong chain if a wallet rejects the switch or does not switch", async () => {
  equal(
    await typeOf(requireChain(wallet({ eth_chainId: ["0x1"], wallet_switchEthereumChain: [4001] }), CHAIN)),
    "WrongChain",
  );
  const liar = wallet({ eth_chainId: ["0x1", "0x1"], wallet_switchEthereumChain: [null] });
  equal(await typeOf(requireChain(liar, CHAIN)), "WrongChain");
});

Deno.test("the error after a rejection in the wallet contains the next step", async () => {
  const error = await connect(wallet({ eth_requestAccounts: [4001] })).catch((told: PanelError) => told) as PanelError;
  equal(error.message, "You rejected the request in Fox.");
  equal(error.hint.includes("try again"), true);
  equal(await typeOf(connect(wallet({ eth_requestAccounts: [[]] }))), "NoAccount");
});

Deno.test("the request to the wallet omits the nonce, the type and the chain id", async () => {
  let sent: unknown;
  const provider = { request: ({ params }: { params?: unknown[] }) => Promise.resolve((sent = params?.[0], "0xhash")) };
  const fields = { from: "0x1", to: "0x2", data: "0x", nonce: "0x5", type: "0x2", chainId: "0x1", gas: "0x10" };
  equal(await sendTransaction({ id: "1", name: "Fox", provider }, fields), "0xhash");
  equal(sent, { from: "0x1", to: "0x2", data: "0x", gas: "0x10" });
  await settled();
});
