/** The names of ethers 5, read from the library when this is built (`build.ts`), so that nobody types a list. */
import type { Names } from "./interface.ts";

declare const __ETHERS_NAMES__: Names;

export const ETHERS: Names = __ETHERS_NAMES__;
