// Signs the price of a pair, which several sources report, for one contract.
// The action uses no data from the caller. Sources, limits and the contract are in ORACLE, which is part of the source.

async function main() {
  const now = Math.floor(Date.now() / 1000);
  const asked = await Promise.allSettled(ORACLE.sources.map((source) => read(source, now)));
  const found = asked.filter((each) => each.status === "fulfilled").map((each) => each.value);
  const refused = asked.filter((each) => each.status === "rejected").map((each) => each.reason.message);
  const agreed = agreeing(found);
  if (agreed.length < ORACLE.needed) {
    throw new Error(
      `${agreed.length} of ${ORACLE.sources.length} sources agree; ${ORACLE.needed} are needed. ${refused.join(" ")}`,
    );
  }
  const value = {
    pair: ORACLE.pair,
    price: median(agreed.map((each) => each.price)).toString(),
    at: Math.min(...agreed.map((each) => each.at)),
    round: Math.floor(now / ORACLE.roundSeconds),
  };
  const wallet = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());
  const domain = {
    name: "PriceConsumer",
    version: "1",
    chainId: ORACLE.chainId,
    verifyingContract: ORACLE.contract,
  };
  const types = {
    Price: [
      { name: "pair", type: "string" },
      { name: "price", type: "uint256" },
      { name: "at", type: "uint64" },
      { name: "round", type: "uint64" },
    ],
  };
  return { ...value, signer: wallet.address, signature: await wallet._signTypedData(domain, types, value) };
}

// Returns the price from one source in units of 10^-8, and its time in seconds.
async function read(source, now) {
  const host = new URL(source.url).host;
  const response = await fetch(source.url);
  if (!response.ok) throw new Error(`${host} returned status ${response.status}.`);
  const text = await response.text();
  if (text.length > 5000) throw new Error(`${host} returned more than 5,000 characters.`);
  const answer = JSON.parse(text);
  const price = member(answer, source.price);
  const at = seconds(member(answer, source.at));
  // Expects a string of digits. A JSON number may already be rounded, and 1e400 is not a finite number.
  const digits = typeof price === "string" && /^([0-9]{1,12})(?:\.([0-9]{1,8}))?$/.exec(price);
  if (!digits) throw new Error(`${host} did not return a price.`);
  if (!Number.isSafeInteger(at) || at > now + 5) throw new Error(`${host} did not return the time of its price.`);
  if (now - at > ORACLE.maxAgeSeconds) throw new Error(`${host} returned a price that is ${now - at} seconds old.`);
  const units = BigInt(digits[1] + (digits[2] ?? "").padEnd(8, "0"));
  if (units === 0n) throw new Error(`${host} returned a price of 0.`);
  return { price: units, at };
}

// Returns the value at a path such as "volume.timestamp". Ignores inherited members.
function member(value, path) {
  for (const name of path.split(".")) {
    value = value !== null && typeof value === "object" && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value;
}

// Converts seconds, milliseconds or ISO 8601 in UTC to seconds since 1970.
function seconds(time) {
  if (typeof time === "string" && /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,18}Z$/.test(time)) {
    return Math.floor(Date.parse(time) / 1000);
  }
  if (typeof time === "string" && /^[0-9]{1,13}$/.test(time)) time = Number(time);
  return typeof time === "number" ? Math.floor(time > 1e11 ? time / 1000 : time) : NaN;
}

// Returns the prices within the allowed distance from the median, and ignores a single source with a false price.
function agreeing(found) {
  if (found.length === 0) return [];
  const middle = median(found.map((each) => each.price));
  const most = (middle * BigInt(ORACLE.spreadBps)) / 10000n;
  return found.filter(({ price }) => (price > middle ? price - middle : middle - price) <= most);
}

// For an even number of prices, returns the lower middle price, because a source has reported this price.
function median(prices) {
  const sorted = [...prices].sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
  return sorted[Math.floor((sorted.length - 1) / 2)];
}
