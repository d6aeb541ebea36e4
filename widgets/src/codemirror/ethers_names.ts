/** Names of ethers 5. The build (`build.ts`) reads the names from the library, so that no list needs manual updates. */
import type { Names } from "./interface.ts";

declare const __ETHERS_NAMES__: Names;

export const ETHERS: Names = __ETHERS_NAMES__;
