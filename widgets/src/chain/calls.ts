/** Calls that do not change the state: eth_call, eth_estimateGas and eth_createAccessList. */
import type { HeaderData } from "@ethereumjs/block";
import { createFeeMarket1559Tx } from "@ethereumjs/tx";
import { Account, bytesToHex, createZeroAddress } from "@ethereumjs/util";
import type { Address } from "@ethereumjs/util";
import { runTx } from "@ethereumjs/vm";
import type { RunTxResult } from "@ethereumjs/vm";
import type { Chain, Mined } from "./chain.ts";
import { INTERNAL_ERROR, INVALID_PARAMS, REJECTED, REVERTED, RpcError } from "./errors.ts";
import { address, data, hex, object, quantity } from "./values.ts";
import type { Json, JsonObject } from "./values.ts";

interface Call {
  readonly from: Address;
  readonly to: Address | undefined;
  readonly data: Uint8Array;
  readonly value: bigint;
  readonly gas: bigint | undefined;
}

const ERROR_STRING = "0x08c379a0";
const PANIC = "0x4e487b71";
/** Gas of a plain transfer, which is the minimum for a transaction. */
const LEAST_GAS = 21_000n;

function read(given: Json | undefined): Call {
  const call = object(given, "call");
  return {
    from: call.from === undefined || call.from === null ? createZeroAddress() : address(call.from, "from"),
    to: call.to === undefined || call.to === null ? undefined : address(call.to, "to"),
    data: data(call.input ?? call.data, "data"),
    value: quantity(call.value, "value") ?? 0n,
    gas: quantity(call.gas, "gas"),
  };
}

/** Returns the block header for the called code: the header of the requested block, with the caller's overrides. */
function seen(mined: Mined, overrides: Json | undefined): HeaderData {
  const { header } = mined.block;
  const given: JsonObject = overrides === undefined || overrides === null ? {} : object(overrides, "block overrides");
  return {
    number: quantity(given.number, "number") ?? header.number,
    timestamp: quantity(given.time, "time") ?? header.timestamp,
    gasLimit: quantity(given.gasLimit, "gasLimit") ?? header.gasLimit,
    parentHash: header.parentHash,
    baseFeePerGas: 0n, // calls are free
  };
}

/** Executes a call like a transaction, but without a signature and without a fee. */
async function attempt(chain: Chain, call: Call, gas: bigint, header: HeaderData, list = false): Promise<RunTxResult> {
  const tx = createFeeMarket1559Tx({
    to: call.to,
    data: call.data,
    value: call.value,
    gasLimit: gas,
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
  }, { common: chain.common, freeze: false });
  tx.getSenderAddress = () => call.from;
  tx.hash = () => new Uint8Array(32);
  return await runTx(chain.vm, {
    tx,
    block: chain.around(header),
    skipNonce: true,
    skipBlockGasLimitValidation: true,
    skipHardForkValidation: true,
    reportAccessList: list,
  });
}

async function perform(chain: Chain, call: Call, gas: bigint, header: HeaderData, list = false): Promise<RunTxResult> {
  try {
    const { stateManager } = chain.vm;
    return await chain.vm.stateManager.checkpoint().then(async () => {
      try {
        // A contract cannot send a transaction, but it can be the sender of a call.
        const account = await stateManager.getAccount(call.from);
        if (account?.isContract()) {
          await stateManager.putAccount(call.from, new Account(account.nonce, account.balance));
        }
        return await attempt(chain, call, gas, header, list);
      } finally {
        await stateManager.revert();
      }
    });
  } catch (error) {
    const text = (error as Error).message.replace(/ \(vm hf=.*$/s, "");
    if (text.includes("INTRINSIC_GAS")) throw new RpcError(INVALID_PARAMS, `intrinsic gas too low: ${text}`);
    if (text.includes("enough funds")) throw new RpcError(REJECTED, "Insufficient funds for gas * price + value");
    throw new RpcError(INVALID_PARAMS, text);
  }
}

function check({ execResult }: RunTxResult): void {
  const failed = execResult.exceptionError;
  if (failed === undefined) return;
  if (failed.error !== "revert") throw new RpcError(INTERNAL_ERROR, `EVM error: ${failed.error}`);
  const revertData = bytesToHex(execResult.returnValue);
  throw new RpcError(REVERTED, `execution reverted${reason(execResult.returnValue)}`, revertData);
}

/** Returns the message of a revert with one of Solidity's built-in errors. */
function reason(bytes: Uint8Array): string {
  if (bytes.length < 4) return "";
  const selector = bytesToHex(bytes.subarray(0, 4));
  if (selector === ERROR_STRING && bytes.length >= 68) {
    const length = Number(BigInt(bytesToHex(bytes.subarray(36, 68))));
    return `: ${new TextDecoder().decode(bytes.subarray(68, 68 + length))}`;
  }
  if (selector === PANIC) return `: panic: ${bytesToHex(bytes.subarray(4))}`;
  return `: custom error ${bytesToHex(bytes)}`;
}

export async function call(chain: Chain, mined: Mined, given: Json | undefined, overrides?: Json): Promise<string> {
  const wanted = read(given);
  const header = seen(mined, overrides);
  return await chain.on(mined, async () => {
    const result = await perform(chain, wanted, wanted.gas ?? header.gasLimit as bigint, header);
    check(result);
    return bytesToHex(result.execResult.returnValue);
  });
}

/** Returns the minimum gas with which the call succeeds. */
export async function estimate(chain: Chain, mined: Mined, given: Json | undefined, overrides?: Json): Promise<string> {
  const wanted = read(given);
  const header = seen(mined, overrides);
  return await chain.on(mined, async () => {
    let most = wanted.gas ?? header.gasLimit as bigint;
    const first = await perform(chain, wanted, most, header);
    if (first.execResult.exceptionError?.error === "out of gas") {
      throw new RpcError(REJECTED, `Out of gas: gas required exceeds allowance: ${most}`);
    }
    check(first);
    // The refund comes at the end, so a transaction can need more gas than it pays for.
    let least = first.totalGasSpent - 1n;
    if (least < LEAST_GAS - 1n) least = LEAST_GAS - 1n;
    // Most calls need little more gas than they pay for. The search starts at the paid gas, and its step doubles each
    // time.
    let near = enough(first);
    while (least + 1n < most) {
      const middle = near > least && near < most ? near : (least + most) / 2n;
      if (await suffices(chain, wanted, middle, header)) most = middle;
      else least = middle;
      near += near - first.totalGasSpent;
    }
    return hex(most);
  });
}

/**
 * Returns the sum of the used gas, the refund, and the 64th that a caller retains (EIP-150). Nested calls retain more gas.
 */
function enough({ totalGasSpent, gasRefund }: RunTxResult): bigint {
  return (totalGasSpent + (gasRefund ?? 0n)) * 65n / 64n + 1n;
}

async function suffices(chain: Chain, wanted: Call, gas: bigint, header: HeaderData): Promise<boolean> {
  try {
    return (await perform(chain, wanted, gas, header)).execResult.exceptionError === undefined;
  } catch (error) {
    if (error instanceof RpcError) return false;
    throw error;
  }
}

export async function accessList(chain: Chain, mined: Mined, given: Json | undefined): Promise<Json> {
  const wanted = read(given);
  const header = seen(mined, undefined);
  return await chain.on(mined, async () => {
    const result = await perform(chain, wanted, wanted.gas ?? header.gasLimit as bigint, header, true);
    check(result);
    return { accessList: result.accessList as unknown as Json, gasUsed: hex(result.totalGasSpent) };
  });
}
