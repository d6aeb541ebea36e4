/** Wallets and usage keys whose creation is incomplete. The user can complete each creation, or delete its record. */
import { confirmed } from "../../lib/confirm.ts";
import { h, type Panel } from "../../lib/panel.ts";
import { showSecret } from "../../lib/secret.ts";

interface Pending {
  id: string;
  kind: string;
  name: string;
  stage: string;
}

export function pendingPart(at: Panel): { element: HTMLElement; read: () => Promise<void> } {
  const list = h("div", {});
  const secret = h("div", { "aria-live": "polite" });
  const said = h("p", { role: "status", class: "svcnb-good" });
  const element = h(
    "section",
    { class: "svcnb-card", "aria-label": "Unfinished operations", hidden: true },
    h("h3", {}, "Unfinished operations"),
    list,
    said,
    secret,
  );
  const read = async () => {
    const found = await at.call<Pending[]>("pending", {}, "Searching for unfinished operations");
    element.hidden = found.length === 0 && secret.childElementCount === 0 && !said.textContent;
    list.replaceChildren(...found.map(row));
  };
  const row = (mint: Pending) => {
    const question = h("div", { "aria-live": "polite" });
    const resume = at.button("Resume", async () => {
      said.textContent = "";
      const label = `Completing the ${mint.kind} ${mint.name}`;
      const made = await at.call<{ secret: string }>("resume", { mint: mint.id }, label);
      if (made.secret) {
        const warning = "Anyone who has this key can run actions at your cost. Store the key in a safe place.";
        showSecret(secret, "usage key", warning, made.secret, () => void read());
      }
      said.textContent = `✓ The ${mint.kind} ${mint.name} is complete.`;
      await read();
    }, { kind: "primary" });
    const giveUp: HTMLButtonElement = at.button("Delete the record …", async () => {
      await confirmed(at, question, giveUp, "Delete permanently", async (confirm) => {
        await at.call("abandon", { mint: mint.id, confirm });
        await read();
      });
    }, { kind: "quiet" });
    return h(
      "div",
      {},
      h(
        "div",
        { class: "svcnb-row" },
        h(
          "span",
          {},
          `${mint.kind} ${mint.name}: ${mint.stage === "asked" ? "not created yet" : "created, not registered"}`,
        ),
        resume,
        giveUp,
      ),
      question,
    );
  };
  return { element, read };
}
