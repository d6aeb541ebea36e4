// Signs payments of an agent's wallet within a spending policy.
// The policy is in POLICY, which is part of the source. A record that this action signed contains the amount spent today.
// Each payment and each record refers to the previous payment, so the contract refuses a payment with an old record.

async function main(params) {
  const now = Math.floor(Date.now() / 1000);
  const wallet = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());
  const record = trusted(params?.record, wallet.address);
  const to = address(params?.to);
  const value = whole(params?.value);
  const today = Math.floor(now / 86400);
  const spent = (record.day === today ? BigInt(record.spent) : 0n) + value;
  if (record.day > today) throw new Error("The day of the record is in the future.");
  if (!POLICY.recipients.includes(to)) throw new Error("The policy does not allow this recipient.");
  if (value > BigInt(POLICY.most)) throw new Error(`value: the policy allows at most ${POLICY.most} wei for one payment.`);
  if (spent > BigInt(POLICY.mostPerDay)) throw new Error(`value: the policy allows at most ${POLICY.mostPerDay} wei per day.`);
  const payment = {
    to,
    value: value.toString(),
    previous: record.head,
    deadline: now + POLICY.validSeconds,
  };
  if (value > BigInt(POLICY.alone) && approver({ to, value: payment.value, previous: record.head }, params.approval) !== POLICY.owner) {
    throw new Error(`A payment of more than ${POLICY.alone} wei needs the owner's approval.`);
  }
  const head = ethers.utils._TypedDataEncoder.hash(domain(), { Payment: PAYMENT }, payment);
  const next = { head, day: today, spent: spent.toString() };
  return {
    payment,
    signature: await wallet._signTypedData(domain(), { Payment: PAYMENT }, payment),
    record: { ...next, signature: await wallet._signTypedData(domain(), { Record: RECORD }, next) },
    signer: wallet.address,
  };
}

const PAYMENT = [
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "previous", type: "bytes32" },
  { name: "deadline", type: "uint256" },
];
const APPROVAL = PAYMENT.slice(0, 3);
const RECORD = [
  { name: "head", type: "bytes32" },
  { name: "day", type: "uint256" },
  { name: "spent", type: "uint256" },
];

function domain() {
  return { name: "AgentWallet", version: "1", chainId: POLICY.chainId, verifyingContract: POLICY.contract };
}

// Returns a record that this action signed. Without a record, nothing was spent yet. The contract accepts this only for
// its first payment.
function trusted(record, signer) {
  if (record === undefined || record === null) return { head: ethers.constants.HashZero, day: 0, spent: "0" };
  const { head, day, spent } = record;
  if (!Number.isSafeInteger(day) || day < 0) throw new Error("record.day: expected a whole number of at least 0.");
  if (recovered({ Record: RECORD }, { head, day, spent }, record.signature) !== signer) {
    throw new Error("This action did not sign the record.");
  }
  return { head, day, spent };
}

function approver(payment, signature) {
  return recovered({ Approval: APPROVAL }, payment, signature);
}

// Returns the signer of typed data, or null.
function recovered(types, value, signature) {
  if (typeof signature !== "string" || !/^0x[0-9a-fA-F]{130}$/.test(signature)) return null;
  try {
    return ethers.utils.verifyTypedData(domain(), types, value, signature);
  } catch {
    return null; // malformed values or signature
  }
}

function address(given) {
  if (typeof given !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(given)) throw new Error("to: expected an address, 0x and 40 hex digits.");
  return ethers.utils.getAddress(given);
}

// Expects a string of digits for a number of at least 1, because a JSON number may already be rounded.
function whole(given) {
  if (typeof given !== "string" || !/^[1-9][0-9]{0,38}$/.test(given)) {
    throw new Error("value: expected a whole number of wei, at least 1, as a string.");
  }
  return BigInt(given);
}
