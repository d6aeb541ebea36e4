/** Marks the changes since the text with which the editor started. */
import { RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view";
import type { Change } from "./interface.ts";

/** Sets the current change. Null means that there is none. */
export const markChange = StateEffect.define<Change | null>();

const inside = Decoration.mark({ class: "svcnb-changed" });
const gap = Decoration.line({ class: "svcnb-removed" });

export const changedBytes = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    let now = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (!effect.is(markChange)) continue;
      const builder = new RangeSetBuilder<Decoration>();
      const change = effect.value;
      const end = transaction.newDoc.length;
      if (change && change.from < change.to && change.to <= end) builder.add(change.from, change.to, inside);
      else if (change && change.from <= end) {
        const { from } = transaction.newDoc.lineAt(change.from);
        builder.add(from, from, gap);
      }
      now = builder.finish();
    }
    return now;
  },
  provide: (field) => EditorView.decorations.from(field),
});
