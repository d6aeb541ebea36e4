/** Identity of the action: its CID, which depends on every byte, and the changes since a chosen version. */
import { type TextChange, visible } from "../../lib/change.ts";
import { copyButton, h } from "../../lib/panel.ts";

export interface Identity {
  element: HTMLElement;
  show(cid: string, hashed: string, size: number, change: TextChange | null): void;
}

export function identity(rebase: () => void): Identity {
  const cid = h("code", { class: "svcnb-cid" });
  const hashed = h("code", { class: "svcnb-hashed" });
  const size = h("td");
  const changed = h("td");
  const take = h("button", { type: "button", class: "svcnb-quiet", onclick: rebase }, "Compare with this version");
  return {
    element: h(
      "div",
      { class: "svcnb-card" },
      h("h3", {}, "Identity"),
      h(
        "table",
        {},
        row("CID", h("td", {}, cid, copyButton(() => cid.textContent ?? ""))),
        row("Hashed CID", h("td", {}, hashed, copyButton(() => hashed.textContent ?? ""))),
        row("Size", size),
        row("Changed", changed),
      ),
      take,
    ),
    show(id, hash, bytes, change): void {
      cid.textContent = id;
      hashed.textContent = hash;
      size.textContent = `${bytes} byte${bytes === 1 ? "" : "s"}`;
      changed.replaceChildren(...told(change));
      take.hidden = change === null;
    },
  };
}

function row(title: string, cell: HTMLElement): HTMLElement {
  return h("tr", {}, h("th", { scope: "row" }, title), cell);
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
