/** Interface of the editor for panels. */

/** A mark at a position in the text: a finding of the linter, or the place where a run failed. */
export interface Mark {
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
  severity: "error" | "warning";
  message: string;
  hint?: string;
}

/** A function or a value that an action finds around itself. */
export interface Name {
  name: string;
  /** What stands behind it in the list, such as its arguments. */
  detail?: string;
  /** A sentence. */
  says?: string;
  /** What is put into the text; the name itself when left out. */
  insert?: string;
  kind: "function" | "namespace" | "variable" | "class";
}

/** Names by their owner: `""` for globals, else a path such as `Svc.Actions`. */
export type Names = Record<string, Name[]>;

/** Characters of the text that differ from another text; `from` equals `to` where something was only taken away. */
export interface Change {
  from: number;
  to: number;
}

export interface Options {
  text: string;
  label: string;
  language: "javascript" | "json";
  names?: Names;
  changed(text: string): void;
  /** Ctrl-Enter, or Command-Enter. */
  submit?(): void;
}

export interface Editor {
  text(): string;
  replace(text: string): void;
  mark(marks: readonly Mark[]): void;
  markChange(change: Change | null): void;
  goTo(line: number, column?: number): void;
  focus(): void;
  hasFocus(): boolean;
  destroy(): void;
}

/** What the editor's bundle exports. */
export interface Module {
  mount(parent: HTMLElement, options: Options): Editor;
}
