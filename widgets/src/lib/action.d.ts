// Declarations for actions of the Svc service: types for editors and `tsc --checkJs`.
// `svcnb types` generates this file from the list of the runtime's functions.

interface SvcActionFunctions {
  /** Returns the private key of a wallet that the caller's key and this action can use: 0x and 64 hex digits. Counts as one of at most 10 key operations of a run. */
  getPrivateKey(options: { pkpId: string }): Promise<`0x${string}`>;

  /** Returns this action's own private key, which is derived from its CID: 0x and 64 hex digits. Counts as one of at most 10 key operations of a run. */
  getSvcActionPrivateKey(): Promise<`0x${string}`>;

  /** Returns the compressed public key of the action whose CID is ipfsId. Counts as one of at most 10 key operations of a run. */
  getSvcActionPublicKey(options: { ipfsId: string }): Promise<`0x${string}`>;

  /** Returns the address of the action whose CID is ipfsId, in lower case. Counts as one of at most 10 key operations of a run. */
  getSvcActionWalletAddress(options: { ipfsId: string }): Promise<`0x${string}`>;

  /** Encrypts a text for a wallet with AES-256-GCM, and returns the result as hex. */
  Encrypt(options: { pkpId: string; message: string }): Promise<string>;

  /** Decrypts a result of Encrypt, and returns the text. */
  Decrypt(options: { pkpId: string; ciphertext: string }): Promise<string>;

  /** Sets the response, unless main returns a value. The last call takes effect. */
  setResponse(options: { response: unknown }): void;

  /** Returns the imported modules and their hashes. */
  showImportDetails(): unknown;
}

interface SvcRequestHeaders {
  /** Returns x-request-id, or x-correlation-id if the caller sent it. Returns null for other names. */
  get(name: string): string | null;
  /** Returns whether `get` returns a value for a name. */
  has(name: string): boolean;
}

/** Functions of the service that actions can call. An action cannot replace these functions. */
declare const SvcActions: Readonly<SvcActionFunctions>;
/** Object without members. */
declare const SvcAuth: Readonly<Record<string, never>>;
/** Ids of the request that started the run. An action cannot change them. */
declare const SvcHeaders: Readonly<SvcRequestHeaders>;
/** The same objects as SvcActions, SvcAuth and SvcHeaders. */
declare const Svc: Readonly<{
  Actions: typeof SvcActions;
  Auth: typeof SvcAuth;
  Headers: typeof SvcHeaders;
}>;

/** Version 5 of the library ethers, for example `ethers.Wallet`, `ethers.utils` and `ethers.BigNumber`. */
// deno-lint-ignore no-explicit-any
declare const ethers: any;

/** The global object, which is also available as globalThis. */
declare const global: typeof globalThis;

/** @deprecated Not available. Use Uint8Array, TextEncoder, or ethers.utils.arrayify and hexlify. */
declare const Buffer: never;
/** @deprecated Not available. Pass values in js_params: actions cannot access environment variables. */
declare const process: never;
/** @deprecated Not available. Write import ... from "name@1.2.3" at the top, or use the available globals (ethers, fetch, crypto). */
declare const require: never;
