/** Runs actions, and distinguishes sources that are not JavaScript from those that throw. */

/**
 * Runs a script in the realm. The script can use the declarations of earlier scripts.
 *
 * @throws {Uncompiled} The source is not valid JavaScript. No code has run.
 */
export type Evaluate = (source: string) => unknown;

/** Compilation error of a source. The class has a private brand, because actions can throw any value, even a proxy. */
export class Uncompiled {
  readonly #error: unknown;

  constructor(error: unknown) {
    this.#error = error;
  }

  /** Returns the original error of `thrown`, and whether it prevented compilation. */
  static look(thrown: unknown): { error: unknown; uncompiled: boolean } {
    const uncompiled = typeof thrown === "object" && thrown !== null && #error in thrown;
    return { error: uncompiled ? thrown.#error : thrown, uncompiled };
  }
}
