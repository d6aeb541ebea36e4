/**
 * Static imports of pinned packages: `import x from "name@1.2.3/path"`.
 *
 * The service runs actions as classic scripts, which cannot contain imports. The bootstrap therefore replaces imports
 * with spaces, so that positions do not change. The bootstrap then loads and evaluates the modules. Their values become
 * constants of the script scope.
 */
import type { ImportDeclaration } from "acorn";
import { call } from "./channel.ts";
import type { Vm, VmModule } from "./internals.ts";
import { parser } from "./parser.ts";
import { createObject, defineProperty, jsonStringify, promiseThen } from "./primordials.ts";

/** Result of `showImportDetails` for one module. */
export interface Imported {
  /** Canonical name, `package@version/path`. */
  readonly name: string;
  /** Hash of the module: `sha384-` followed by base64. */
  readonly integrity: string;
  readonly bytes: number;
}

export interface Linked {
  /** Source with spaces instead of import declarations. */
  readonly source: string;
  /** Script that declares the imported names in the script scope. It must run before the source. */
  readonly prelude: string;
  readonly imported: readonly Imported[];
}

const MAX_MODULES = 100;

/** Global property from which the prelude reads the namespaces. */
const HANDOVER = "\u0000svcnb imports";

export function importDeclarations(source: string): ImportDeclaration[] {
  if (!source.includes("import")) return [];
  try {
    const program = parser().parse(source, { ecmaVersion: "latest", sourceType: "module" });
    return program.body.filter((node) => node.type === "ImportDeclaration");
  } catch {
    return []; // not a module either, so the engine reports the syntax error
  }
}

/** Loads the imports of a source before any code of the action runs. Returns null if there are none. */
export async function linkImports(source: string, vm: () => Promise<Vm>): Promise<Linked | null> {
  const declarations = importDeclarations(source);
  if (declarations.length === 0) return null;
  const modules = new Modules(await vm());
  const namespaces: object[] = [];
  let prelude = "";
  let rest = source;
  for (const declaration of declarations) {
    if (declaration.attributes.length > 0) throw new SyntaxError("import attributes are not supported in actions");
    prelude += bindings(declaration, namespaces.length);
    namespaces.push(await modules.evaluate(String(declaration.source.value)));
    const { start, end } = declaration;
    rest = rest.slice(0, start) + rest.slice(start, end).replace(/[^\r\n\u2028\u2029]/g, " ") + rest.slice(end);
  }
  defineProperty(globalThis, HANDOVER, { value: namespaces, configurable: true });
  return { source: rest, prelude, imported: modules.imported };
}

/** Removes the namespaces from the global object. */
export function forgetHandover(): void {
  Reflect.deleteProperty(globalThis, HANDOVER);
}

/** Returns the constants of one import declaration, as script text. */
function bindings(declaration: ImportDeclaration, index: number): string {
  const from = `globalThis[${jsonStringify(HANDOVER)}][${index}]`;
  let text = "";
  for (const specifier of declaration.specifiers) {
    const local = specifier.local.name;
    if (specifier.type === "ImportNamespaceSpecifier") {
      text += `const ${local}=${from};`;
    } else {
      let name = "default";
      if (specifier.type === "ImportSpecifier") {
        name = specifier.imported.type === "Identifier" ? specifier.imported.name : String(specifier.imported.value);
      }
      text += `if(!(${jsonStringify(name)} in ${from}))throw new SyntaxError(${
        jsonStringify(`The requested module ${declaration.source.raw} does not provide an export named '${name}'`)
      });const ${local}=${from}[${jsonStringify(name)}];`;
    }
  }
  return text;
}

class Modules {
  readonly imported: Imported[] = [];
  readonly #vm: Vm;
  readonly #byName: Record<string, VmModule> = createObject(null);

  constructor(vm: Vm) {
    this.#vm = vm;
  }

  async evaluate(specifier: string): Promise<object> {
    const module = await this.#load(specifier, null);
    if (module.status === "unlinked") {
      await module.link((wanted, referrer) => this.#load(wanted, nameOf(referrer)));
    }
    await module.evaluate();
    return module.namespace;
  }

  async #load(specifier: string, importer: string | null): Promise<VmModule> {
    if (this.imported.length >= MAX_MODULES) {
      throw new Error(`too many imported modules: at most ${MAX_MODULES} are allowed`);
    }
    const members = `,"specifier":${jsonStringify(specifier)},"importer":${jsonStringify(importer)}`;
    const found = await promiseThen(call("import", members).answer, (frame) => frame.body) as unknown as {
      name: string;
      integrity: string;
      source: string;
      bytes: number;
    };
    const known = this.#byName[found.name];
    if (known !== undefined) return known;
    const { name, integrity, bytes, source } = found;
    const module = new this.#vm.SourceTextModule(source, { identifier: `<package ${name}>` });
    this.#byName[name] = module;
    this.imported.push(Object.freeze({ name, integrity, bytes }));
    return module;
  }
}

function nameOf(module: VmModule): string {
  return module.identifier.slice("<package ".length, -1);
}
