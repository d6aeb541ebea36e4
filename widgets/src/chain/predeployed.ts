/** Contracts that exist from the first block, as on anvil. */
import type { PrefixedHexString } from "@ethereumjs/util";

/** Contract from which other contracts read the hashes of past blocks (EIP-2935). */
export const HISTORY = "0x0000f90827f1c53a10cb7a02335b175320002935";
export const HISTORY_SLOTS = 8191n;
export const HISTORY_CODE: PrefixedHexString =
  `0x${"3373fffffffffffffffffffffffffffffffffffffffe14604657602036036042575f35600143038111604257611fff81430311604257"}${"611fff9006545f5260205ff35b5f5ffd5b5f35611fff60014303065500"}`;

/** Deployer with the same address on every chain: Arachnid's "Deterministic Deployment Proxy". */
export const DETERMINISTIC_DEPLOYER: readonly [address: string, code: PrefixedHexString] = [
  "0x4e59b44847b379578588920ca78fbf26c0b4956c",
  `0x${"7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd"}${"5b8082525050506014600cf3"}`,
];
