"""Browser wallet for tests, with a real key. Like a browser extension, the wallet supports EIP-1193 and EIP-6963."""

from __future__ import annotations

import json
from typing import Any

import httpx

from svcnb import LocalSigner

SCRIPT = """
(() => {
  if (window.top !== window) return;
  const provider = {
    async request({method, params}) {
      const {result, error} = await window.svcnbTestWallet(method, params ?? []);
      if (error) throw Object.assign(new Error(error.message), {code: error.code});
      return result;
    },
    on() {},
    removeListener() {},
  };
  const info = {uuid: "11111111-2222-4333-8444-555555555555", name: "Test Wallet", rdns: "org.example", icon: "data:,"};
  const announce = () => window.dispatchEvent(
    new CustomEvent("eip6963:announceProvider", {detail: Object.freeze({info, provider})}));
  window.addEventListener("eip6963:requestProvider", announce);
  announce();
})();
"""

REJECTED = {"code": 4001, "message": "User rejected the request."}
UNSUPPORTED = {"code": 4200, "message": "The method is not supported."}
UNKNOWN_CHAIN = {"code": 4902, "message": "Unrecognized chain ID."}


class TestWallet:
    """Wallet that responds to the requests of a page, and records them.

    Args:
        signer: Account of the wallet.
        chain_id: Id of the selected chain.
        rpc_url: Address of the node to which the wallet sends transactions.

    Attributes:
        rejects: Methods that the user rejects.
        asked: Requested methods, in order.
    """

    __test__ = False

    def __init__(self, signer: LocalSigner, chain_id: int, rpc_url: str) -> None:
        self.signer = signer
        self.chain_id = chain_id
        self.rpc_url = rpc_url
        self.known = {chain_id}
        self.rejects: set[str] = set()
        self.asked: list[str] = []

    def __call__(self, method: str, params: list[Any]) -> dict[str, Any]:
        self.asked.append(method)
        if method in self.rejects:
            return {"error": REJECTED}
        answer = getattr(self, method, None)
        return {"error": UNSUPPORTED} if answer is None else answer(*params)

    def eth_requestAccounts(self) -> dict[str, Any]:  # noqa: N802 - the wire says it so
        return {"result": [self.signer.address.lower()]}

    def eth_chainId(self) -> dict[str, Any]:  # noqa: N802
        return {"result": hex(self.chain_id)}

    def wallet_switchEthereumChain(self, asked: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        wanted = int(asked["chainId"], 16)
        if wanted not in self.known:
            return {"error": UNKNOWN_CHAIN}
        self.chain_id = wanted
        return {"result": None}

    def wallet_addEthereumChain(self, told: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        assert told["rpcUrls"][0].startswith("http")
        assert told["nativeCurrency"]["decimals"] == 18
        self.known.add(int(told["chainId"], 16))
        return self.wallet_switchEthereumChain(told)

    def eth_signTypedData_v4(self, address: str, text: str) -> dict[str, Any]:  # noqa: N802
        data = json.loads(text)
        assert address == self.signer.address.lower()
        # Like other wallets, this one signs only for the selected chain.
        if int(data["domain"]["chainId"]) != self.chain_id:
            return {"error": {"code": -32603, "message": "chainId should be same as current chainId"}}
        return {"result": self.signer.sign_typed_data(data)}

    def eth_sendTransaction(self, fields: dict[str, str]) -> dict[str, Any]:  # noqa: N802
        return {"result": self._sent(fields)}

    def _sent(self, fields: dict[str, str]) -> Any:
        assert fields["from"].lower() == self.signer.address.lower()
        assert "nonce" not in fields
        transaction = {
            "to": fields["to"],
            "data": fields["data"],
            "value": int(fields["value"], 16),
            "gas": int(fields["gas"], 16),
            "maxFeePerGas": int(fields["maxFeePerGas"], 16),
            "maxPriorityFeePerGas": int(fields["maxPriorityFeePerGas"], 16),
            "nonce": int(self._rpc("eth_getTransactionCount", self.signer.address, "pending"), 16),
            "chainId": self.chain_id,
            "type": 2,
        }
        return self._rpc("eth_sendRawTransaction", self.signer.sign_transaction(transaction))

    def _rpc(self, method: str, *params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = httpx.post(self.rpc_url, json=body, timeout=30, trust_env=False).json()
        assert "error" not in answer, answer
        return answer["result"]
