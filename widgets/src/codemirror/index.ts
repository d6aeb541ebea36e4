/**
 * Code editor of the panels. The editor is a separate, large bundle that a page loads only once, even if several panels
 * show an editor (`lib/code_editor.ts`). Panels import only its types.
 */
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { json, jsonParseLinter } from "@codemirror/lang-json";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from "@codemirror/language";
import { type Diagnostic, linter, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { actionCompletions } from "./completion.ts";
import type { Editor, Mark, Options } from "./interface.ts";
import { changedBytes, markChange } from "./changes.ts";
import { look } from "./theme.ts";

/** Creates an editor inside an element. */
export function mount(parent: HTMLElement, options: Options): Editor {
  const view = new EditorView({
    parent,
    state: EditorState.create({ doc: options.text, extensions: extensions(options) }),
  });
  return {
    text: () => view.state.doc.toString(),
    replace(text: string): void {
      if (text !== view.state.doc.toString()) {
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      }
    },
    mark(marks: readonly Mark[]): void {
      view.dispatch(setDiagnostics(view.state, marks.map((mark) => diagnostic(view.state, mark))));
    },
    markChange(change): void {
      view.dispatch({ effects: markChange.of(change) });
    },
    goTo(line: number, column = 1): void {
      const at = position(view.state, line, column);
      view.dispatch({ selection: { anchor: at }, scrollIntoView: true });
      view.focus();
    },
    focus: () => view.focus(),
    hasFocus: () => view.hasFocus,
    destroy: () => view.destroy(),
  };
}

function extensions(options: Options): Extension[] {
  const common = [
    highlightSpecialChars(),
    history(),
    drawSelection(),
    indentOnInput(),
    indentUnit.of("  "),
    bracketMatching(),
    closeBrackets(),
    highlightSelectionMatches(),
    look,
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ "aria-label": options.label, spellcheck: "false" }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) options.changed(update.state.doc.toString());
    }),
    // Tab indents. Escape and then Tab leaves the editor, so keyboard users can leave it (the rule of CodeMirror).
    keymap.of([
      {
        key: "Mod-Enter",
        run: () => {
          options.submit?.();
          return options.submit !== undefined;
        },
      },
      ...closeBracketsKeymap,
      ...defaultKeymap,
      ...searchKeymap,
      ...historyKeymap,
      ...foldKeymap,
      ...completionKeymap,
      ...lintKeymap,
      indentWithTab,
    ]),
  ];
  if (options.language === "json") {
    const check = jsonParseLinter();
    return [...common, json(), linter((view) => view.state.doc.toString().trim() ? check(view) : [])];
  }
  return [
    ...common,
    lineNumbers(),
    foldGutter(),
    lintGutter(),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    javascript(),
    changedBytes,
    autocompletion({ override: options.names ? [actionCompletions(options.names)] : undefined, icons: false }),
  ];
}

function diagnostic(state: EditorState, { line, column, severity, message, hint }: Mark): Diagnostic {
  const from = position(state, line, column);
  const word = state.wordAt(from);
  const to = word && word.to > from ? word.to : Math.min(from + 1, state.doc.length);
  return { from, to, severity, message: hint ? `${message}\n${hint}` : message };
}

function position(state: EditorState, line: number, column: number): number {
  const found = state.doc.line(Math.min(Math.max(line, 1), state.doc.lines));
  return Math.min(found.from + Math.max(column, 1) - 1, found.to);
}
