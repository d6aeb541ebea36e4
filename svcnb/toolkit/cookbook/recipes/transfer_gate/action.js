// Signs one transfer of a token if a list on another chain permits both the sender and the recipient.
// The caller chooses the transfer. GATE contains the list's address and the token for which the signature is valid. It is
// part of the source.

async function main(params) {
  const from = address(params.from, "from");
  const to = address(params.to, "to");
  const amount = whole(params.amount, "amount");
  const nonce = whole(params.nonce, "nonce");
  for (const [name, permitted] of Object.entries(await look({ from, to }))) {
    if (!permitted) throw new Error(`The list does not permit the address in ${name}.`);
  }
  const deadline = Math.floor(Date.now() / 1000) + GATE.validSeconds;
  const value = { from, to, amount, nonce, deadline };
  const wallet = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());
  const domain = {
    name: "GatedToken",
    version: "1",
    chainId: GATE.token.chainId,
    verifyingContract: GATE.token.contract,
  };
  const types = {
    Transfer: [
      { name: "from", type: "address" },
      { name: "to", type: "address" },
      { name: "amount", type: "uint256" },
      { name: "nonce", type: "uint256" },
      { name: "deadline", type: "uint256" },
    ],
  };
  return { ...value, signer: wallet.address, signature: await wallet._signTypedData(domain, types, value) };
}

// Returns whether the list permits each address, from one response of the fixed node. Its latest block must be recent.
async function look(addresses) {
  const { rpc, contract, chainId, kind, maxAgeSeconds } = GATE.list;
  if (kind !== "allow" && kind !== "deny") throw new Error('GATE.list.kind must be "allow" or "deny".');
  const names = Object.keys(addresses);
  const call = (name) => ({ to: contract, data: LISTED + addresses[name].slice(2).toLowerCase().padStart(64, "0") });
  const [chain, block, ...listed] = await ask(rpc, [
    ["eth_chainId"],
    ["eth_getBlockByNumber", "latest", false],
    ...names.map((name) => ["eth_call", call(name), "latest"]),
  ]);
  if (Number(chain) !== chainId) throw new Error("The node belongs to a different chain.");
  const age = Math.floor(Date.now() / 1000) - Number(block?.timestamp);
  if (!(age <= maxAgeSeconds)) throw new Error("The node's latest block is too old.");
  return Object.fromEntries(names.map((name, index) => [name, flag(listed[index]) === (kind === "allow")]));
}

// listed(address)
const LISTED = ethers.utils.id("listed(address)").slice(0, 10);

function flag(word) {
  if (word === "0x" + "0".repeat(64)) return false;
  if (word === "0x" + "0".repeat(63) + "1") return true;
  throw new Error("The list returned neither true nor false.");
}

// Sends several JSON-RPC requests in one HTTP request. Returns their results in order, or undefined for a missing one.
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
  return requests.map((_, id) => Array.isArray(answers) ? answers.find((each) => each?.id === id)?.result : undefined);
}

// Expects an address in hex. If it has mixed case, its checksum must be correct (EIP-55).
function address(given, name) {
  if (typeof given !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(given)) throw new Error(`${name}: expected an address, 0x and 40 hex digits.`);
  const found = ethers.utils.getAddress(given);
  if (found === ethers.constants.AddressZero) throw new Error(`${name}: expected an address other than 0.`);
  return found;
}

// Expects an integer as a string of digits, because a JSON number above 2^53 is already rounded.
function whole(given, name) {
  if (typeof given !== "string" || !/^(0|[1-9][0-9]{0,77})$/.test(given) || BigInt(given) >= 2n ** 256n) {
    throw new Error(`${name}: expected a whole number below 2^256 as a string.`);
  }
  return given;
}
