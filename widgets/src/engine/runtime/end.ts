/**
 * When a run ends: Deno dispatches `beforeunload` to the global object when its event loop is empty, before it exits.
 *
 * Deno's way to listeners uses arrays, whose prototype an action may have changed. So the event is taken where it is
 * dispatched.
 */
import { defineProperty, reflectApply, uncurryThis } from "./primordials.ts";

const { dispatchEvent } = EventTarget.prototype;
const typeOf = uncurryThis(Object.getOwnPropertyDescriptor(Event.prototype, "type")!.get!);
const realm = globalThis;

/** Calls `finish` when nothing is left to do. */
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
