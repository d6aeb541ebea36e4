/**
 * Entry point with which JupyterLab loads a prebuilt extension: a module-federation container. A build tool is not
 * necessary for a single plugin. JupyterLab shares its own CodeMirror, and an editor extension works only with the
 * CodeMirror instance that created the editor.
 */
import { actionCells, type Shared } from "./plugin.ts";

type Factory = () => unknown;
type Scope = Record<string, Record<string, { get(): Promise<Factory> }>>;

const NAME = "svcnb";
let scope: Scope | undefined;

/**
 * Error for a front end that does not share a module. For example, Voila loads the extensions of JupyterLab, but Voila
 * has no cells to edit.
 */
class NotShared extends Error {}

async function shared<T>(name: string): Promise<T> {
  const versions = scope?.[name];
  const newest = Object.keys(versions ?? {}).sort((one, other) => one.localeCompare(other, "en", { numeric: true }));
  const found = versions?.[newest.at(-1) ?? ""];
  if (!found) throw new NotShared(`${NAME}: this front end does not share ${name}`);
  return (await found.get())() as T;
}

async function extension(): Promise<Factory> {
  // Without `__esModule`, JupyterLab would use the module itself as the plugin.
  const plugin = await colouring().catch((error) => {
    if (error instanceof NotShared) return [];
    throw error;
  });
  return () => ({ __esModule: true, default: plugin });
}

async function colouring(): Promise<unknown> {
  const [state, view, language, common, jupyter] = await Promise.all([
    shared<Shared["state"]>("@codemirror/state"),
    shared<Shared["view"]>("@codemirror/view"),
    shared<Shared["language"]>("@codemirror/language"),
    shared<Shared["common"]>("@lezer/common"),
    shared<Shared["jupyter"]>("@jupyterlab/codemirror"),
  ]);
  return actionCells({ state, view, language, common, jupyter });
}

const containers = globalThis as unknown as { _JUPYTERLAB: Record<string, unknown> };
(containers._JUPYTERLAB ??= {})[NAME] = {
  init(given: Scope): void {
    scope = given;
  },
  get(module: string): Promise<Factory> {
    return module === "./extension"
      ? extension()
      : Promise.reject(new Error(`the extension ${NAME} has no module ${module}: load ./extension`));
  },
};
