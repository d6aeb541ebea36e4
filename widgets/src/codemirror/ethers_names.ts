/**
 * The names of ethers 5, read from the library during the build (`build.ts`), so that no list is maintained by hand.
 */
import type { Names } from "./interface.ts";

declare const __ETHERS_NAMES__: Names;

export const ETHERS: Names = __ETHERS_NAMES__;
