/** Credit of the account, and a button that adds credit on the processor's page. */
import { dollars, notice } from "../../lib/dom.ts";
import { field, h, type Panel } from "../../lib/panel.ts";
import { throughProxy } from "../../lib/proxy.ts";

export function creditPart(at: Panel): { element: HTMLElement; offer: (packages: number[]) => void } {
  const page = h("div", { "aria-live": "polite" });
  const amount = h("select", {});
  const method = h("select", {}, h("option", { value: "card" }, "card"), h("option", { value: "crypto" }, "crypto"));

  const pay = async () => {
    const asked = { cents: Number(amount.value), method: method.value };
    const begun = await at.call<{ page: string; payment: string }>("pay", asked, "Creating the payment");
    const address = begun.page ? await throughProxy(begun.page) : "";
    const link = h("a", { href: address, target: "_blank", rel: "noopener" }, "Open the processor's page");
    page.replaceChildren(
      notice(
        `Pay ${dollars(asked.cents)} at the processor.`,
        begun.page
          ? h(
            "p",
            {},
            link,
            " in another tab. The credit appears here after the payment. If you press Cancel, this panel stops waiting, but you can still pay.",
          )
          : h("p", {}, `Payment ${begun.payment}: complete it with the processor's client library or dashboard.`),
      ),
    );
    if (begun.page) link.focus();
    try {
      await at.call("wait_for_payment", {}, "Waiting for the payment");
    } catch (error) {
      page.replaceChildren();
      throw error;
    }
    page.replaceChildren(h("p", { class: "svcnb-good", role: "status" }, `✓ ${dollars(asked.cents)} added.`));
  };
  at.onSession((changed) => {
    if (changed.has("account")) page.querySelector("[role=status]")?.remove(); // this is the credit of another account
  });

  const element = h(
    "section",
    { class: "svcnb-card", "aria-label": "Credit" },
    h("h3", {}, "Credit"),
    h("div", { class: "svcnb-columns" }, field("Amount", amount), field("Payment method", method)),
    h(
      "div",
      { class: "svcnb-row" },
      at.button("Add credit", pay, { kind: "primary" }),
      at.button("Refresh", () => at.call("refresh", {}, "Reading the credit")),
    ),
    page,
  );
  const offer = (packages: number[]) =>
    amount.replaceChildren(...packages.map((cents) => h("option", { value: cents }, dollars(cents))));
  return { element, offer };
}
