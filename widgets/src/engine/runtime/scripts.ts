/** How an action is run, and how one that is not JavaScript is told from one that throws. */

/**
 * Runs a script in the realm, where it sees what earlier ones declared.
 *
 * @throws {Uncompiled} It is not JavaScript; nothing of it has run.
 */
export type Evaluate = (source: string) => unknown;

/** Why a source does not compile. Has a brand of its own, since an action may throw anything, a proxy for example. */
export class Uncompiled {
  readonly #error: unknown;

  constructor(error: unknown) {
    this.#error = error;
  }

  /** The error behind `thrown`, and whether it stood in the way of compiling. */
  static look(thrown: unknown): { error: unknown; uncompiled: boolean } {
    const uncompiled = typeof thrown === "object" && thrown !== null && #error in thrown;
    return { error: uncompiled ? thrown.#error : thrown, uncompiled };
  }
}
