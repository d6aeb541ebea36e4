/**
 * `Promise.any` with V8's error after the rejection of all promises. QuickJS throws an error without a message, and no
 * code can change this error earlier.
 */
import { completeAggregate } from "./errors.ts";
import { standIn } from "./mend.ts";

type Settle = (value: unknown) => void;
type Executor = (resolve: Settle, reject: Settle) => void;
type Constructor = (new (executor: Executor) => object) & { resolve(value: unknown): unknown };

const { apply, construct } = Reflect;
const native = Promise.any as (this: unknown, ...args: unknown[]) => unknown;

const { any } = {
  any(this: unknown, ...args: unknown[]): unknown {
    if (typeof this !== "function") return apply(native, this, args);
    const promises = this as Constructor;
    /** Replaces the class while the engine creates a promise. */
    function Capability(executor: Executor): object {
      return construct(promises, [(resolve: Settle, reject: Settle) => {
        executor(resolve, (error) => {
          completeAggregate(error);
          reject(error);
        });
      }]);
    }
    Object.defineProperty(Capability, "resolve", {
      get() {
        const { resolve } = promises;
        return typeof resolve === "function" ? (value: unknown) => apply(resolve, promises, [value]) : resolve;
      },
    });
    return apply(native, Capability, args);
  },
};

standIn(any);
Object.defineProperty(any, "length", { value: 1, configurable: true });
Object.defineProperty(Promise, "any", { value: any, writable: true, enumerable: false, configurable: true });
