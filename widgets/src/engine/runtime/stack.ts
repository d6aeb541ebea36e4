/** `stack` of errors without frames of the bootstrap, whose file path differs in each process. */
import { isOwn } from "./failure.ts";
import { defineProperty, Error, toText, uncurryThis } from "./primordials.ts";

const headline = uncurryThis(Error.prototype.toString);

export function hideOwnFrames(): void {
  const prepareStackTrace = (error: Error, frames: readonly object[]): string => {
    let text: string;
    try {
      text = headline(error);
    } catch {
      text = "<error>"; // as in V8 if a getter throws
    }
    for (let i = 0; i < frames.length; i++) {
      const line = `\n    at ${toText(frames[i])}`;
      if (isOwn(line)) text += line;
    }
    return text;
  };
  defineProperty(Error, "prepareStackTrace", {
    value: prepareStackTrace,
    writable: true,
    enumerable: false,
    configurable: true,
  });
}
