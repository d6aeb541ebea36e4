/**
 * Highlights, indents and folds cells whose first line is `%%action` as JavaScript. JupyterLab itself uses the language
 * of the kernel for every cell.
 */
import type * as Language from "@codemirror/language";
import type * as State from "@codemirror/state";
import type * as View from "@codemirror/view";
import type * as Common from "@lezer/common";

/** Used part of the interface that `@jupyterlab/codemirror` offers to extensions. */
interface Jupyter {
  IEditorExtensionRegistry: unknown;
  IEditorLanguageRegistry: unknown;
  EditorExtensionRegistry: { createImmutableExtension(extension: State.Extension): unknown };
}

interface Extensions {
  addExtension(extension: { name: string; factory: () => unknown }): void;
}

interface Languages {
  getLanguage(name: string): Promise<{ support?: Language.LanguageSupport } | null>;
}

/** Modules from which the front end creates its editors. */
export interface Shared {
  state: typeof State;
  view: typeof View;
  language: typeof Language;
  common: typeof Common;
  jupyter: Jupyter;
}

const ID = "svcnb:action-cells";
const MAGIC = /^%%action(\s|$)/;

/** Returns whether a text is an action cell. */
export function isActionCell(doc: State.Text): boolean {
  return MAGIC.test(doc.line(1).text);
}

/** Returns the plugin that JupyterLab and Notebook activate. */
export function actionCells(shared: Shared): unknown {
  return {
    id: ID,
    description: "JavaScript in cells of %%action",
    autoStart: true,
    requires: [shared.jupyter.IEditorExtensionRegistry, shared.jupyter.IEditorLanguageRegistry],
    activate(_app: unknown, extensions: Extensions, languages: Languages): void {
      const javascript = () => languages.getLanguage("javascript").then((found) => found?.support ?? null);
      const made = shared.jupyter.EditorExtensionRegistry.createImmutableExtension(editorExtension(shared, javascript));
      extensions.addExtension({ name: ID, factory: () => made });
    },
  };
}

/**
 * Returns an editor extension, which is active only while the first line is the magic. The extension loads the
 * JavaScript language once. This language then takes precedence over the language of the kernel.
 */
export function editorExtension(
  { state, view, language, common }: Pick<Shared, "state" | "view" | "language" | "common">,
  javascript: () => Promise<Language.LanguageSupport | null>,
): State.Extension {
  const slot = new state.Compartment();
  let loaded: State.Extension | undefined;

  /** Parser that treats the first line as spaces, because the line of the magic is not JavaScript. */
  class BelowFirstLine extends common.Parser {
    constructor(private readonly inner: Common.Parser) {
      super();
    }

    createParse(
      input: Common.Input,
      fragments: readonly Common.TreeFragment[],
      ranges: readonly { from: number; to: number }[],
    ): Common.PartialParse {
      return this.inner.startParse(blanked(input, firstLineEnd(input)), fragments, ranges);
    }
  }

  async function load(): Promise<State.Extension | null> {
    const support = await javascript();
    if (!support) return null;
    const inner = support.language;
    const own = new language.Language(inner.data, new BelowFirstLine(inner.parser), [], "action");
    const plain = view.EditorView.decorations.compute(["doc"], (now) => {
      if (!isActionCell(now.doc)) return view.Decoration.none;
      return view.Decoration.set(view.Decoration.line({ class: "svcnb-magic-line" }).range(0));
    });
    const style = view.EditorView.baseTheme({
      ".svcnb-magic-line": { color: "var(--jp-mirror-editor-meta-color, inherit)" },
    });
    return loaded = state.Prec.highest([own.extension, support.support, plain, style]);
  }

  return [
    slot.of([]),
    view.ViewPlugin.define((editor) => {
      let closed = false;
      const follow = async () => {
        // An editor must not be changed during its own update.
        await Promise.resolve();
        const extension = loaded ?? await load();
        if (closed || !extension) return;
        const wanted = isActionCell(editor.state.doc) ? extension : [];
        if (slot.get(editor.state) !== wanted) editor.dispatch({ effects: slot.reconfigure(wanted) });
      };
      let action = isActionCell(editor.state.doc);
      if (action) follow();
      return {
        update(update: View.ViewUpdate): void {
          if (!update.docChanged) return;
          const now = isActionCell(update.state.doc);
          if (now !== action) follow();
          action = now;
        },
        destroy(): void {
          closed = true;
        },
      };
    }),
  ];
}

/** Returns the input with spaces up to `end`. All positions stay the same. */
function blanked(input: Common.Input, end: number): Common.Input {
  const blank = (text: string, from: number) =>
    from >= end ? text : " ".repeat(Math.min(text.length, end - from)) + text.slice(end - from);
  return {
    length: input.length,
    lineChunks: input.lineChunks,
    chunk: (from) => blank(input.chunk(from), from),
    read: (from, to) => blank(input.read(from, to), from),
  };
}

function firstLineEnd(input: Common.Input): number {
  for (let at = 0; at < input.length;) {
    const part = input.read(at, Math.min(input.length, at + 1_024));
    const end = part.indexOf("\n");
    if (end >= 0) return at + end;
    at += part.length || 1;
  }
  return input.length;
}
