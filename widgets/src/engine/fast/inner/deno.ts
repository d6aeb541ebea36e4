/** Error classes for denied access, in the object from which `arrangeGlobals` reads them. */
import { define } from "./define.ts";

class NotCapable extends Error {
  override name = "NotCapable";
}
class PermissionDenied extends Error {
  override name = "PermissionDenied";
}

define({ Deno: { errors: { NotCapable, PermissionDenied } } });
