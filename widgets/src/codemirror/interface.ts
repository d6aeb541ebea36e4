/** Interface of the editor for panels. */

/** Mark at a position in the text: a finding of the linter, or the position where a run failed. */
export interface Mark {
  /** Number of the line. The first line has the number 1. */
  line: number;
  /** Number of the column. The first column has the number 1. */
  column: number;
  severity: "error" | "warning";
  message: string;
  hint?: string;
}

/** Function or value that is available to an action. */
export interface Name {
  name: string;
  /** Text after the name in the list, such as the arguments. */
  detail?: string;
  /** Description in one sentence. */
  says?: string;
  /** Text to insert. By default, the name. */
  insert?: string;
  kind: "function" | "namespace" | "variable" | "class";
}

/** Names by owner: `""` for globals, or a path such as `Svc.Actions`. */
export type Names = Record<string, Name[]>;

/** Characters that differ from another text. If characters were only removed, `from` equals `to`. */
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
  /** Handles Ctrl-Enter and Command-Enter. */
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

/** Exports of the editor's bundle. */
export interface Module {
  mount(parent: HTMLElement, options: Options): Editor;
}
