// Admits holders of a token to a club on another chain, if enough independent nodes agree on the balance.
// The nodes, the token and the limits are in CONDITION, which is part of the source. The caller specifies the holder.

async function main(params) {
  const holder = address(params?.holder);
  const at = await height();
  const found = await Promise.allSettled(CONDITION.nodes.map((node) => look(node, holder, at)));
  const answers = found.filter((each) => each.status === "fulfilled").map((each) => each.value);
  const agreed = answers.find((each) => answers.filter((other) => same(each, other)).length >= CONDITION.needed);
  if (!agreed) throw new Error(`Fewer than ${CONDITION.needed} of ${CONDITION.nodes.length} nodes agree on block ${at}.`);
  const now = Math.floor(Date.now() / 1000);
  if (now - agreed.time > CONDITION.maxAgeSeconds) throw new Error("The chain's block is too old.");
  if (agreed.balance < BigInt(CONDITION.atLeast)) throw new Error(`The balance is below ${CONDITION.atLeast}.`);
  const value = { member: holder, until: now + CONDITION.validSeconds };
  const wallet = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());
  const domain = {
    name: "Club",
    version: "1",
    chainId: CONDITION.club.chainId,
    verifyingContract: CONDITION.club.contract,
  };
  const types = { Membership: [{ name: "member", type: "address" }, { name: "until", type: "uint256" }] };
  return { ...value, block: at, signer: wallet.address, signature: await wallet._signTypedData(domain, types, value) };
}

// Returns the block to read, which is `depth` blocks below the median of the reported heights. A single node that
// reports a false height does not change the result.
async function height() {
  const asked = await Promise.allSettled(CONDITION.nodes.map(async (node) => {
    const [chain, latest] = await ask(node, [["eth_chainId"], ["eth_blockNumber"]]);
    if (number(chain) !== CONDITION.token.chainId) throw new Error("The node belongs to a different chain.");
    return number(latest);
  }));
  const heights = asked.filter((each) => each.status === "fulfilled").map((each) => each.value);
  if (heights.length < CONDITION.needed) {
    throw new Error(`${heights.length} of ${CONDITION.nodes.length} nodes responded; ${CONDITION.needed} are needed.`);
  }
  heights.sort((one, other) => one - other);
  return Math.max(0, heights[Math.floor((heights.length - 1) / 2)] - CONDITION.depth);
}

// Returns what one node reports about the holder in a block, with the block's hash, so that forks do not agree.
async function look(node, holder, at) {
  const tag = "0x" + at.toString(16);
  const data = BALANCE_OF + holder.slice(2).toLowerCase().padStart(64, "0");
  const [block, balance] = await ask(node, [
    ["eth_getBlockByNumber", tag, false],
    ["eth_call", { to: CONDITION.token.contract, data }, tag],
  ]);
  if (typeof balance !== "string" || !/^0x[0-9a-f]{64}$/.test(balance)) throw new Error("The node did not return a balance.");
  if (number(block?.number) !== at) throw new Error("The node returned a different block.");
  return { hash: block.hash, time: number(block.timestamp), balance: BigInt(balance) };
}

// balanceOf(address)
const BALANCE_OF = ethers.utils.id("balanceOf(address)").slice(0, 10);

function same(one, other) {
  return one.hash === other.hash && one.time === other.time && one.balance === other.balance;
}

function number(text) {
  const found = typeof text === "string" && /^0x[0-9a-f]{1,13}$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(found)) throw new Error("The node did not return a number.");
  return found;
}

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

function address(given) {
  if (typeof given !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(given)) throw new Error("holder: expected an address, 0x and 40 hex digits.");
  return ethers.utils.getAddress(given);
}
