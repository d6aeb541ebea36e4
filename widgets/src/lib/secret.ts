/** Secret that a panel shows once. The user copies it and confirms that it is stored. */
import { copyButton, h, notice } from "./dom.ts";

/** Shows a secret in `place` until the user confirms that it is stored. Afterwards, `stored` gets the focus. */
export function showSecret(place: HTMLElement, what: string, warning: string, text: string, stored: () => void): void {
  const done = h("button", { type: "button", class: "svcnb-primary" }, "Hide key");
  done.addEventListener("click", () => {
    place.replaceChildren();
    stored();
  });
  place.replaceChildren(
    notice(
      `This is the ${what}. The panel shows the ${what} only once.`,
      h("p", {}, warning),
      h("code", { class: "svcnb-key" }, text),
      h("div", { class: "svcnb-row" }, copyButton(() => text, "Copy key"), done),
    ),
  );
  done.focus();
}
