/** The classes that refusals of access are made of, where `arrangeGlobals` looks for them. */
import { define } from "./define.ts";

class NotCapable extends Error {
  override name = "NotCapable";
}
class PermissionDenied extends Error {
  override name = "PermissionDenied";
}

define({ Deno: { errors: { NotCapable, PermissionDenied } } });
