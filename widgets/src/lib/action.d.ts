// Declarations for actions of the Svc service: types for editors and `tsc --checkJs`.
// `svcnb types` generates this file from the list of the runtime's functions.

interface SvcActionFunctions {
  /** The private key of a wallet that the caller's key and this action can use: 0x and 64 hex digits. Counts as one of at most 10 key operations of a run. */
  getPrivateKey(options: { pkpId: string }): Promise<`0x${string}`>;

  /** This action's own private key, derived from its CID: 0x and 64 hex digits. Counts as one of at most 10 key operations of a run. */
  getSvcActionPrivateKey(): Promise<`0x${string}`>;

  /** The compressed public key of any action. Counts as one of at most 10 key operations of a run. */
  getSvcActionPublicKey(options: { ipfsId: string }): Promise<`0x${string}`>;

  /** The address of any action's own wallet, lower case. Counts as one of at most 10 key operations of a run. */
  getSvcActionWalletAddress(options: { ipfsId: string }): Promise<`0x${string}`>;

  /** Encrypts a text for a wallet (AES-256-GCM); returns hex. */
  Encrypt(options: { pkpId: string; message: string }): Promise<string>;

  /** Decrypts a result of Encrypt. */
  Decrypt(options: { pkpId: string; ciphertext: string }): Promise<string>;

  /** Sets the response, unless main returns a value. The last call takes effect. */
  setResponse(options: { response: unknown }): void;

  /** Returns the imported modules and their hashes. */
  showImportDetails(): unknown;
}

interface SvcRequestHeaders {
  /** Value of x-request-id, or of x-correlation-id if the caller sent this header. Otherwise null. */
  get(name: string): string | null;
  has(name: string): boolean;
}

/** Functions of the service that actions can call. Frozen. */
declare const SvcActions: Readonly<SvcActionFunctions>;
declare const SvcAuth: Readonly<Record<string, never>>;
declare const SvcHeaders: Readonly<SvcRequestHeaders>;
declare const Svc: Readonly<{
  Actions: typeof SvcActions;
  Auth: typeof SvcAuth;
  Headers: typeof SvcHeaders;
}>;

/** The library ethers, version 5: `new ethers.Wallet(key)`, `ethers.utils`, `ethers.BigNumber`. */
// deno-lint-ignore no-explicit-any
declare const ethers: any;

/** The same as globalThis. */
declare const global: typeof globalThis;

/** @deprecated Not available: use Uint8Array, TextEncoder, or ethers.utils.arrayify and hexlify. */
declare const Buffer: never;
/** @deprecated Not available: pass values in js_params: actions cannot access environment variables. */
declare const process: never;
/** @deprecated Not available: write import ... from "name@1.2.3" at the top, or use the available globals (ethers, fetch, crypto). */
declare const require: never;
