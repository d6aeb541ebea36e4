/** JSON-RPC error. Code 3 is a revert, whose data is the contract's return data. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: string | undefined;

  constructor(code: number, message: string, data?: string) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export const REVERTED = 3;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
export const REJECTED = -32003;
export const SERVER_ERROR = -32000;
