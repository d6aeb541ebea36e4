/** Identity of the action: its CID, which depends on every byte, and the changes since a chosen version. */
import { type TextChange, visible } from "../../lib/change.ts";
import { copyButton, counted, h, tableRow } from "../../lib/dom.ts";

export interface Identity {
  element: HTMLElement;
  show(cid: string, hashed: string, size: number, change: TextChange | null): void;
}

export function identity(rebase: () => void): Identity {
  const cid = h("code", { class: "svcnb-cid" });
  const hashed = h("code", { class: "svcnb-hashed" });
  const size = h("span");
  const changed = h("div");
  const take = h("button", { type: "button", class: "svcnb-quiet", onclick: rebase }, "Compare with this version");
  return {
    element: h(
      "div",
      { class: "svcnb-card" },
      h("h3", {}, "Identity"),
      h(
        "table",
        {},
        tableRow("CID", cid, copyButton(() => cid.textContent ?? "")),
        tableRow("Hashed CID", hashed, copyButton(() => hashed.textContent ?? "")),
        tableRow("Size", size),
        tableRow("Changed", changed),
      ),
      take,
    ),
    show(id, hash, bytes, change): void {
      cid.textContent = id;
      hashed.textContent = hash;
      size.textContent = counted(bytes, "byte");
      changed.replaceChildren(...told(change));
      take.hidden = change === null;
    },
  };
}

function told(change: TextChange | null): (Node | string)[] {
  if (change === null) return ["nothing"];
  const { removed, added, removedBytes, addedBytes, byte, line } = change;
  return [
    `${removedBytes} → ${addedBytes} bytes, from byte ${byte} (line ${line})`,
    h(
      "div",
      { class: "svcnb-change" },
      removed ? h("del", {}, visible(removed)) : h("span", { class: "svcnb-muted" }, "nothing"),
      " → ",
      added ? h("ins", {}, visible(added)) : h("span", { class: "svcnb-muted" }, "nothing"),
    ),
  ];
}
