/**
 * End of a run. Before it exits, Deno dispatches `beforeunload` to the global object when the event loop is empty.
 *
 * Deno calls listeners with the help of arrays, whose prototype an action can change. This module therefore intercepts
 * the event at its dispatch.
 */
import { defineProperty, reflectApply, uncurryThis } from "./primordials.ts";

const { dispatchEvent } = EventTarget.prototype;
const typeOf = uncurryThis(Object.getOwnPropertyDescriptor(Event.prototype, "type")!.get!);
const realm = globalThis;

/** Calls `finish` when no work is left. */
export function onEnd(finish: () => void): void {
  const value = {
    dispatchEvent(this: EventTarget | undefined, event: Event): boolean {
      if (this === realm && typeOf(event) === "beforeunload") finish();
      return reflectApply(dispatchEvent, this, [event]);
    },
  }.dispatchEvent;
  defineProperty(EventTarget.prototype, "dispatchEvent", {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}
