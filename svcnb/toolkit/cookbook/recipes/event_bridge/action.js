// Signs an event of a contract on one chain for a contract on another chain.
// The chains, contracts and confirmations are in BRIDGE, which is part of the source. The caller specifies the event.

async function main(params) {
  const { transaction } = params ?? {};
  if (typeof transaction !== "string" || !/^0x[0-9a-f]{64}$/.test(transaction)) {
    throw new Error("transaction: expected 0x and 64 lower-case hex digits.");
  }
  const number = whole(params.number);
  const { rpc, chainId, contract, confirmations } = BRIDGE.source;
  const [chain, latest, receipt] = await ask(rpc, [
    ["eth_chainId"],
    ["eth_blockNumber"],
    ["eth_getTransactionReceipt", transaction],
  ]);
  if (integer(chain) !== chainId) throw new Error("The node belongs to a different chain.");
  if (!receipt || receipt.status !== "0x1") throw new Error("The chain has no successful transaction with this hash.");
  const at = integer(receipt.blockNumber);
  if (integer(latest) - at < confirmations) {
    throw new Error(`The event has ${integer(latest) - at} of the ${confirmations} required confirmations.`);
  }
  // Reads the current block at this height. After a reorganisation, a node can still have receipts of the old block.
  const [block] = await ask(rpc, [["eth_getBlockByNumber", receipt.blockNumber, false]]);
  if (!block || block.hash !== receipt.blockHash) throw new Error("The event's block was replaced.");
  const topics = [DEPOSITED, ethers.utils.hexZeroPad(ethers.utils.hexlify(BigInt(number)), 32)];
  const log = (receipt.logs ?? []).find((each) =>
    each.address?.toLowerCase() === contract.toLowerCase() && topics.every((topic, place) => each.topics[place] === topic)
  );
  if (!log) throw new Error("The contract did not emit this event in this transaction.");
  const value = {
    number,
    recipient: ethers.utils.getAddress("0x" + log.topics[2].slice(26)),
    amount: BigInt(log.data).toString(),
  };
  const wallet = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());
  const domain = {
    name: "BridgeMint",
    version: "1",
    chainId: BRIDGE.target.chainId,
    verifyingContract: BRIDGE.target.contract,
  };
  const types = {
    Deposit: [
      { name: "number", type: "uint256" },
      { name: "recipient", type: "address" },
      { name: "amount", type: "uint256" },
    ],
  };
  return { ...value, signer: wallet.address, signature: await wallet._signTypedData(domain, types, value) };
}

const DEPOSITED = ethers.utils.id("Deposited(uint256,address,uint256)");

// Sends several JSON-RPC requests in one HTTP request. Returns their results in order.
async function ask(url, requests) {
  const body = requests.map(([method, ...params], id) => ({ jsonrpc: "2.0", id, method, params }));
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok || text.length > 100000) throw new Error(`The node returned status ${response.status}.`);
  const answers = JSON.parse(text);
  return requests.map((_, id) => answers.find((each) => each?.id === id)?.result);
}

function integer(text) {
  const found = typeof text === "string" && /^0x[0-9a-f]{1,13}$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(found)) throw new Error("The node did not return a number.");
  return found;
}

// Expects a string of digits below 2^256, because a JSON number may already be rounded.
function whole(given) {
  const valid = typeof given === "string" && /^(?:0|[1-9][0-9]{0,77})$/.test(given) && BigInt(given) < 2n ** 256n;
  if (!valid) throw new Error("number: expected a whole number as a string.");
  return given;
}
