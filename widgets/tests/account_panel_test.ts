/** Tests of the account panel with a fake model, without a kernel. */
import { button, click, equal, FakeModel, find, open, settled } from "./fake.ts";
import account from "../src/panels/account/index.ts";

const CLOSED = { mode: "", address: "", hash: "", balance: "" };
const OPEN = { mode: "api", address: "0x12", hash: "0x34", balance: "$5.00 credit" };

async function opened(state: Record<string, string>, has_key = false) {
  const model = new FakeModel({ state, owner_address: state.mode ? "0xab" : "" });
  const { el, close } = open(account, model);
  await model.answer({ packages: [500, 2500], has_key });
  return { model, el, close };
}

Deno.test("the panel shows a new key once, and removes it when the user presses Hide key", async () => {
  const { model, el, close } = await opened(CLOSED);
  find<HTMLInputElement>(el, "input[placeholder=treasury]").value = "treasury";
  click(button(el, "Create"));
  equal(model.last("command").name, "create");
  await model.answer({ api_key: "c2VjcmV0" });
  equal(find(el, ".svcnb-key").textContent, "c2VjcmV0");
  click(button(el, "Hide key"));
  equal(el.innerHTML.includes("c2VjcmV0"), false);
  equal(JSON.stringify(model.state).includes("c2VjcmV0"), false);
  close();
});

Deno.test("the panel opens the account of the client's key, if the client has a key", async () => {
  for (const has_key of [true, false]) {
    const { model, close } = await opened(CLOSED, has_key);
    equal(model.sent.some(({ name }) => name === "open_with_key"), has_key);
    close();
  }
});

Deno.test("an empty account name is not sent, and the field shows an error", async () => {
  const { model, el, close } = await opened(CLOSED);
  click(button(el, "Create"));
  await settled();
  equal(model.sent.some(({ name }) => name === "create"), false);
  equal(find(el, ".svcnb-field-error").textContent, "Enter a name for the account.");
  equal(find(el, "input[placeholder=treasury]").getAttribute("aria-invalid"), "true");
  close();
});

Deno.test("a conversion first shows its consequences, and Cancel sends nothing", async () => {
  const { model, el, close } = await opened(OPEN);
  click(button(el, "Convert to ChainSecured …"));
  await settled();
  equal(model.last("command").args, { confirm: false });
  model.say({
    type: "answer",
    id: model.last("command").id,
    ok: false,
    error: { type: "NotConfirmed", message: "for good", hint: "", consequences: ["No way back."] },
  });
  await new Promise((resolve) => setTimeout(resolve));
  equal(find(el, "li").textContent, "No way back.");
  click(button(el, "Cancel"));
  equal(model.sent.filter(({ name }) => name === "convert").length, 1);
  close();
});

Deno.test("after the user's confirmation, the conversion is sent with confirm", async () => {
  const { model, el, close } = await opened(OPEN);
  click(button(el, "Convert to ChainSecured …"));
  await settled();
  const error = { type: "NotConfirmed", message: "for good", hint: "", consequences: [] };
  model.say({ type: "answer", id: model.last("command").id, ok: false, error });
  await new Promise((resolve) => setTimeout(resolve));
  click(button(el, "Convert permanently"));
  equal(model.last("command").args, { confirm: true });
  await model.answer(null);
  close();
});

Deno.test("any other error of a conversion is shown as a failure", async () => {
  const { model, el, close } = await opened(OPEN);
  click(button(el, "Convert to ChainSecured …"));
  await settled();
  await model.fail("the wallet has an account already");
  await new Promise((resolve) => setTimeout(resolve));
  equal(find(el, ".svcnb-failure strong").textContent, "the wallet has an account already");
  close();
});

Deno.test("the message about added credit disappears after another account is opened", async () => {
  const { model, el, close } = await opened(OPEN);
  click(button(el, "Add credit"));
  await model.answer({ page: "", payment: "pay_1" });
  equal(model.last("command").name, "wait_for_payment");
  await model.answer(null);
  equal(el.textContent!.includes("added."), true);
  model.say({ type: "tell", name: "session", args: { changed: ["account"], session: { balance: "" } } });
  equal(el.textContent!.includes("added."), false);
  close();
});

Deno.test("an account that a wallet owns cannot be converted again", async () => {
  const { el, close } = await opened({ ...OPEN, mode: "chain" });
  equal(find(el, "details:not(.svcnb-code)").hasAttribute("hidden"), true);
  equal(el.textContent!.includes("a wallet owns the account"), true);
  close();
});
