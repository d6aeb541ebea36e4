/** Browser wallets: discovery with EIP-6963, and requests with EIP-1193. */
import { PanelError } from "./wire.ts";

/** Provider of EIP-1193. */
export interface Provider {
  request(call: { method: string; params?: unknown[] }): Promise<unknown>;
  on?(event: string, listener: (value: unknown) => void): void;
  removeListener?(event: string, listener: (value: unknown) => void): void;
}

/** Wallet that has announced itself. */
export interface Wallet {
  readonly id: string;
  readonly name: string;
  readonly provider: Provider;
}

/** Chain that a wallet must use. */
export interface Chain {
  id: number;
  name: string;
  rpc: string;
  token: string;
}

interface Announcement {
  info: { uuid: string; name: string; rdns: string };
  provider: Provider;
}

// error codes of EIP-1193 and EIP-3326
const REJECTED = 4001;
const UNAUTHORIZED = 4100;
const UNKNOWN_CHAIN = 4902;

/**
 * Discovers wallets. Calls `found` with all wallets whenever there is a new one. Includes the older `window.ethereum`
 * if no wallet announces itself. Returns a function that ends the discovery.
 */
export function discover(found: (wallets: Wallet[]) => void): () => void {
  const wallets = new Map<string, Wallet>();
  const announced = (event: Event) => {
    const { info, provider } = (event as CustomEvent<Announcement>).detail ?? {};
    if (!info || !provider || wallets.has(info.uuid)) return;
    wallets.set(info.uuid, { id: info.uuid, name: info.name, provider });
    found([...wallets.values()]);
  };
  globalThis.addEventListener("eip6963:announceProvider", announced);
  globalThis.dispatchEvent(new Event("eip6963:requestProvider"));
  const older = (globalThis as { ethereum?: Provider }).ethereum;
  if (wallets.size === 0 && older) {
    wallets.set("window", { id: "window", name: "Browser wallet", provider: older });
    found([...wallets.values()]);
  }
  return () => globalThis.removeEventListener("eip6963:announceProvider", announced);
}

/** Requests an account. The wallet asks the user for permission. */
export async function connect({ name, provider }: Wallet): Promise<string> {
  const accounts = await asked(name, "eth_requestAccounts", provider);
  const first = Array.isArray(accounts) ? accounts[0] : undefined;
  if (typeof first !== "string") {
    throw new PanelError({
      type: "NoAccount",
      message: `${name} did not return an account.`,
      hint: "Unlock the wallet and try again.",
    });
  }
  return first;
}

/**
 * Makes the wallet use a chain. Asks the wallet to switch to the chain, and adds the chain if it is not in the wallet.
 */
export async function requireChain(wallet: Wallet, chain: Chain): Promise<void> {
  const wanted = `0x${chain.id.toString(16)}`;
  const on = async () => Number(await asked(wallet.name, "eth_chainId", wallet.provider));
  if (await on() === chain.id) return;
  try {
    await asked(wallet.name, "wallet_switchEthereumChain", wallet.provider, [{ chainId: wanted }]);
  } catch (error) {
    if (!(error instanceof WalletError) || error.code !== UNKNOWN_CHAIN) throw wrongChain(wallet, chain, error);
    try {
      await add(wallet, chain, wanted);
    } catch (refused) {
      throw wrongChain(wallet, chain, refused);
    }
  }
  if (await on() !== chain.id) throw wrongChain(wallet, chain);
}

async function add(wallet: Wallet, chain: Chain, wanted: string): Promise<void> {
  const symbol = chain.token || "ETH";
  await asked(wallet.name, "wallet_addEthereumChain", wallet.provider, [{
    chainId: wanted,
    chainName: chain.name || `Chain ${chain.id}`,
    nativeCurrency: { name: symbol, symbol, decimals: 18 },
    rpcUrls: chain.rpc ? [chain.rpc] : [],
  }]);
}

/** Requests a signature of typed data (EIP-712) from the wallet. */
export async function signTypedData({ name, provider }: Wallet, address: string, typedData: unknown): Promise<string> {
  return String(await asked(name, "eth_signTypedData_v4", provider, [address, JSON.stringify(typedData)]));
}

/** Requests that the wallet signs and sends a transaction, and returns its hash. The wallet chooses the nonce. */
export async function sendTransaction({ name, provider }: Wallet, fields: Record<string, unknown>): Promise<string> {
  const { nonce: _nonce, type: _type, chainId: _chainId, ...rest } = fields;
  return String(await asked(name, "eth_sendTransaction", provider, [rest]));
}

/** Error of a wallet, with the rejected request in words. */
export class WalletError extends PanelError {
  constructor(name: string, method: string, readonly code: number | undefined, told: string) {
    super({ type: "WalletError", ...inWords(name, method, code, told) });
  }
}

async function asked(name: string, method: string, provider: Provider, params?: unknown[]): Promise<unknown> {
  try {
    return await provider.request(params ? { method, params } : { method });
  } catch (error) {
    const { code, message } = (error ?? {}) as { code?: number; message?: string };
    throw new WalletError(name, method, code, message ?? String(error));
  }
}

function inWords(name: string, method: string, code: number | undefined, told: string) {
  if (code === REJECTED) {
    return {
      message: `You rejected the request in ${name}.`,
      hint: "No data was signed or sent. To continue, try again and confirm the request.",
    };
  }
  if (code === UNAUTHORIZED) {
    return {
      message: `${name} does not permit this page to use the chosen account.`,
      hint: "Connect the wallet again.",
    };
  }
  return { message: `${name}: ${told}`, hint: `The rejected request is ${method}. For details, open the wallet.` };
}

function wrongChain({ name }: Wallet, chain: Chain, cause?: unknown): PanelError {
  const why = cause instanceof PanelError ? ` ${cause.message}` : "";
  const rpc = chain.rpc ? ` The address of a node of this chain is ${chain.rpc}.` : "";
  return new PanelError({
    type: "WrongChain",
    message: `${name} is not on chain ${chain.id}${chain.name ? ` (${chain.name})` : ""}.${why}`,
    hint: `Switch the wallet to chain ${chain.id} and try again.${rpc}`,
  });
}
