/** Confirmation before an irreversible operation. The panel shows the consequences and focuses the safe choice. */
import { h, type Panel, PanelError } from "./panel.ts";

/**
 * Performs a command without confirmation, and shows the consequences from its response in `place`. Performs the
 * command again after the user confirms it. `origin` gets the focus back if the user cancels.
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
