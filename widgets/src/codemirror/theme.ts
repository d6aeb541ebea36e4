/** Colours from the panel's own variables, so that the editor follows the theme of the notebook. */
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const pair = (light: string, dark: string) => `light-dark(${light}, ${dark})`;

const theme = EditorView.theme({
  "&": {
    color: "var(--svcnb-text)",
    backgroundColor: "var(--svcnb-page)",
    fontSize: "13px",
  },
  "&.cm-focused": { outline: "none" }, // the frame around the editor shows the focus
  ".cm-scroller": { fontFamily: "var(--svcnb-mono)", lineHeight: "1.5", overflow: "auto" },
  ".cm-content": { caretColor: "var(--svcnb-text)", padding: "6px 0" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--svcnb-text)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: pair("#cfe1fb", "#2c4a73"),
  },
  ".cm-gutters": {
    color: "var(--svcnb-muted)",
    backgroundColor: "var(--svcnb-raised)",
    border: "none",
    borderRight: "1px solid var(--svcnb-line)",
  },
  ".cm-activeLine": { backgroundColor: pair("#f2f6fc80", "#ffffff0a") },
  ".cm-activeLineGutter": { backgroundColor: pair("#e3ebf7", "#303947") },
  ".cm-selectionMatch": { backgroundColor: pair("#e6f2d8", "#3a4a2c") },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: pair("#d6ecd9", "#31543a"), outline: "none" },
  ".svcnb-changed": {
    backgroundColor: pair("#fdf0c4", "#574617"),
    borderBottom: `2px solid ${pair("#a86f00", "#f2c063")}`,
  },
  ".svcnb-removed": { boxShadow: `inset 3px 0 0 ${pair("#a86f00", "#f2c063")}` },
  ".cm-tooltip": {
    color: "var(--svcnb-text)",
    backgroundColor: "var(--svcnb-page)",
    border: "1px solid var(--svcnb-edge)",
    borderRadius: "6px",
    overflow: "hidden",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    color: "var(--svcnb-on-accent)",
    backgroundColor: "var(--svcnb-accent)",
  },
  ".cm-tooltip.cm-completionInfo": { padding: "6px 10px", maxWidth: "24em" },
  ".cm-completionDetail": { color: "inherit", opacity: "0.85", fontStyle: "normal", marginLeft: "1em" },
  ".cm-diagnostic": { padding: "4px 10px", whiteSpace: "pre-wrap" },
  ".cm-diagnostic-error": { borderLeft: "4px solid var(--svcnb-bad)" },
  ".cm-diagnostic-warning": { borderLeft: "4px solid var(--svcnb-warn)" },
  ".cm-panels": { color: "var(--svcnb-text)", backgroundColor: "var(--svcnb-raised)" },
});

const style = HighlightStyle.define([
  { tag: tags.comment, color: pair("#5a6875", "#9aa7b5"), fontStyle: "italic" },
  {
    tag: [tags.keyword, tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword],
    color: pair("#8a1f77", "#e6a3dc"),
    fontWeight: "600",
  },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: pair("#1d6b2f", "#92d6a0") },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: pair("#a34400", "#f3b783") },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName)], color: pair("#1658b5", "#8ab8ff") },
  { tag: [tags.propertyName, tags.attributeName], color: pair("#0b5f73", "#7fd0e2") },
  { tag: [tags.typeName, tags.className], color: pair("#6b4fbb", "#c3b1f7") },
  { tag: tags.invalid, color: "var(--svcnb-bad)" },
]);

export const look: Extension = [theme, syntaxHighlighting(style)];
