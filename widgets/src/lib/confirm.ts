/** Questions before something that cannot be taken back: its consequences, and a harmless way out with the focus. */
import { h, type Panel, PanelError } from "./panel.ts";

/**
 * Performs a command without confirmation, shows in `place` what it says would happen, and performs it when confirmed.
 * `origin` gets the focus back when the person leaves it as it is.
 */
export async function confirmed(
  at: Panel,
  place: HTMLElement,
  origin: HTMLElement,
  accept: string,
  work: (confirm: boolean) => Promise<unknown>,
): Promise<void> {
  const refused = await work(false).then(() => null, (error) => error);
  if (refused === null) return place.replaceChildren();
  if (!(refused instanceof PanelError) || refused.type !== "NotConfirmed") throw refused;
  const sure = at.button(accept, async () => {
    await work(true);
    place.replaceChildren();
  }, { kind: "danger" });
  const back = h("button", { type: "button" }, "Cancel");
  back.addEventListener("click", () => {
    place.replaceChildren();
    origin.focus();
  });
  place.replaceChildren(
    h(
      "div",
      { class: "svcnb-failure" },
      h(
        "div",
        {},
        h("strong", {}, refused.message),
        h("ul", {}, ...refused.consequences.map((text) => h("li", {}, text))),
        h("div", { class: "svcnb-row" }, sure, back),
      ),
    ),
  );
  back.focus();
}
