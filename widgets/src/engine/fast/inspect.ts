/** Recreates values from their descriptions by the image, so that Deno's inspector and console can format them. */

// deno-lint-ignore no-explicit-any
type Json = any;

/** Number, internal kind, classes up to a known class, data specific to the kind, and own members. */
type Node = [id: number, brand: string, chain: string[] | null, parts: Json, members: Json[][]];

const AsyncFunction = (async () => {}).constructor;
const GeneratorFunction = (function* () {}).constructor;
const AsyncGeneratorFunction = (async function* () {}).constructor;
const SPECIAL: Readonly<Record<string, { prototype: object }>> = {
  AsyncFunction: AsyncFunction as unknown as { prototype: object },
  GeneratorFunction: GeneratorFunction as unknown as { prototype: object },
  AsyncGeneratorFunction: AsyncGeneratorFunction as unknown as { prototype: object },
};

function prototypeOf(name: string): object {
  return (SPECIAL[name] ?? (globalThis as Json)[name]).prototype;
}

function functionOf(kind: string, parent: object | null): object {
  switch (kind) {
    case "async":
      return async () => {};
    case "generator":
      return function* () {};
    case "async generator":
      return async function* () {};
    case "class":
      return parent === null ? class {} : class extends (parent as { new (): object }) {};
    default:
      return function () {};
  }
}

class Builder {
  readonly #nodes = new Map<number, Node>();
  readonly #made = new Map<number, object>();
  readonly #classes = new Map<string, object>();
  readonly #symbols = new Map<number, symbol>();

  constructor(nodes: Node[]) {
    for (const node of nodes) this.#nodes.set(node[0], node);
  }

  value(described: Json): unknown {
    if (!Array.isArray(described)) return described;
    const [kind, detail, registered, id] = described;
    switch (kind) {
      case "u":
        return undefined;
      case "n":
        return Number(detail);
      case "b":
        return BigInt(detail);
      case "s":
        return this.#symbol(detail, registered, id);
      default:
        return this.#object(detail);
    }
  }

  #symbol(text: string, kind: number, id: number): symbol {
    const description = text.slice("Symbol(".length, -1);
    if (kind === 1) return Symbol.for(description);
    if (kind === 2) return (Symbol as Json)[description.slice("Symbol.".length)];
    const known = this.#symbols.get(id) ?? Symbol(id < 0 ? undefined : description);
    this.#symbols.set(id, known);
    return known;
  }

  #object(id: number): object {
    const known = this.#made.get(id);
    if (known !== undefined) return known;
    const node = this.#nodes.get(id)!;
    const made = this.#make(node);
    this.#made.set(id, made);
    this.#fill(made, node);
    return made;
  }

  /** Creates the object without members that could refer to it. */
  #make([, brand, chain, parts]: Node): object {
    let made: object;
    switch (brand) {
      case "Array":
        made = new Array(parts);
        break;
      case "Error":
        made = new Error();
        break;
      case "Date":
        made = new Date(this.value(parts) as number);
        break;
      case "RegExp":
        made = new RegExp(parts[0], parts[1]);
        break;
      case "Map":
        made = new Map();
        break;
      case "Set":
        made = new Set();
        break;
      case "Function": {
        const extended = chain !== null && chain.length > 1 ? this.#named(functionOf("class", null), chain[0]!) : null;
        made = functionOf(parts, extended);
        for (const key of Reflect.ownKeys(made)) if (key !== "prototype") Reflect.deleteProperty(made, key);
        return made;
      }
      case "Object":
        made = {};
        break;
      case "ArrayBuffer":
        made = Uint8Array.from(parts).buffer;
        break;
      case "Number":
      case "String":
      case "Boolean":
      case "Symbol":
      case "BigInt":
        made = Object(this.value(parts));
        break;
      default:
        made = (globalThis as Json)[brand].from(parts.map((item: Json) => this.value(item)));
    }
    const prototype = this.#prototype(chain);
    if (Object.getPrototypeOf(made) !== prototype) Object.setPrototypeOf(made, prototype);
    return made;
  }

  #fill(made: object, [, brand, , parts, members]: Node): void {
    if (brand === "Map") {
      for (let i = 0; i < parts.length; i += 2) {
        (made as Map<unknown, unknown>).set(this.value(parts[i]), this.value(parts[i + 1]));
      }
    } else if (brand === "Set") {
      for (const item of parts) (made as Set<unknown>).add(this.value(item));
    } else if (brand === "Error") {
      Reflect.deleteProperty(made, "message");
      Object.defineProperty(made, "stack", { value: this.value(parts), writable: true, configurable: true });
    }
    for (const [key, enumerable, accessor, first, second] of members) {
      const attributes = { enumerable: enumerable === 1, configurable: true };
      const name = (Array.isArray(key) ? this.value(key) : key) as PropertyKey;
      if (accessor === 1) {
        const get = first === 1 ? () => undefined : undefined;
        Object.defineProperty(made, name, { ...attributes, get, set: second === 1 ? () => {} : undefined });
      } else {
        Object.defineProperty(made, name, { ...attributes, value: this.value(first), writable: true });
      }
    }
  }

  #prototype(chain: string[] | null): object | null {
    if (chain === null) return null;
    const known = prototypeOf(chain[chain.length - 1]!);
    return chain.slice(0, -1).reduceRight((parent, name) => {
      const path = `${name}<${chain.join("<")}`;
      const made = this.#classes.get(path) ?? Object.create(parent, {
        constructor: { value: this.#named(function () {}, name), writable: true, configurable: true },
      });
      made.constructor.prototype = made;
      this.#classes.set(path, made);
      return made;
    }, known);
  }

  #named(made: object, name: string): object {
    return Object.defineProperty(made, "name", { value: name, configurable: true });
  }
}

/** Returns the values of a description. */
export function build(values: string, nodes: string): unknown[] {
  const builder = new Builder(JSON.parse(nodes));
  return (JSON.parse(values) as Json[]).map((value) => builder.value(value));
}
