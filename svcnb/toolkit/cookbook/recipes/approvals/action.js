// Signs a call for one contract after enough approvers have signed the same call.
// The approvers, the required number and the contract are in APPROVALS, which is part of the source. The action does not
// trust its parameters.

const FIELDS = [
  { name: "to", type: "address" },
  { name: "value", type: "uint256" },
  { name: "data", type: "bytes" },
  { name: "nonce", type: "uint256" },
  { name: "deadline", type: "uint256" },
];

async function main(params) {
  checkSettings();
  const call = checkedCall(params?.call);
  const approvedBy = approversOf(call, params.signatures);
  if (approvedBy.length < APPROVALS.needed) {
    throw new Error(`This call has ${approvedBy.length} of the ${APPROVALS.needed} required approvals.`);
  }
  const wallet = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());
  const signature = await wallet._signTypedData(domain(), { Call: FIELDS }, call);
  return { call, approvedBy, signer: wallet.address, signature };
}

function domain() {
  return { name: "ApprovedCalls", version: "1", chainId: APPROVALS.chainId, verifyingContract: APPROVALS.contract };
}

// Each address must have exactly one form, so that an approver who is listed twice does not count twice.
function checkSettings() {
  const { approvers, needed } = APPROVALS;
  for (const each of approvers) {
    if (!ethers.utils.isAddress(each) || ethers.utils.getAddress(each) !== each) {
      throw new Error(`APPROVALS.approvers: ${each} is not an address with its EIP-55 checksum.`);
    }
  }
  if (new Set(approvers).size !== approvers.length) throw new Error("APPROVALS.approvers: an address occurs twice.");
  if (!Number.isInteger(needed) || needed < 1 || needed > approvers.length) {
    throw new Error(`APPROVALS.needed is ${needed}: expected 1 to ${approvers.length}.`);
  }
}

// Returns the call with only the signed members, each in exactly one form.
function checkedCall(call) {
  const { to, value, data, nonce, deadline } = call ?? {};
  if (typeof to !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(to) || !ethers.utils.isAddress(to)) {
    throw new Error("call.to: expected an address, 0x and 40 hex digits.");
  }
  if (typeof data !== "string" || data.length > 20000 || !/^0x(?:[0-9a-f]{2})*$/.test(data)) {
    throw new Error("call.data: expected 0x and an even number of lower-case hex digits, at most 20,000 characters.");
  }
  const now = Math.floor(Date.now() / 1000);
  const latest = now + APPROVALS.maxDeadlineSeconds;
  const checked = {
    to: ethers.utils.getAddress(to),
    value: whole(value, "call.value"),
    data,
    nonce: whole(nonce, "call.nonce"),
    deadline: whole(deadline, "call.deadline"),
  };
  if (BigInt(checked.deadline) <= BigInt(now)) throw new Error("call.deadline has passed.");
  if (BigInt(checked.deadline) > BigInt(latest)) {
    throw new Error(`call.deadline is more than ${APPROVALS.maxDeadlineSeconds} seconds in the future.`);
  }
  return checked;
}

// Expects a string of digits below 2^256, because a JSON number may already be rounded.
function whole(value, name) {
  const valid = typeof value === "string" && /^(?:0|[1-9][0-9]{0,77})$/.test(value) && BigInt(value) < 2n ** 256n;
  if (!valid) throw new Error(`${name}: expected a whole number below 2^256 as a string, for example "1000".`);
  return value;
}

// Returns the distinct approvers who signed. Two forms of one signature have the same signer, so they count once.
function approversOf(call, signatures) {
  const most = APPROVALS.approvers.length;
  if (!Array.isArray(signatures) || signatures.length > most) {
    throw new Error(`signatures: expected a list of at most ${most} signatures.`);
  }
  const signers = signatures.map((signature, place) => {
    const signer = signerOf(call, signature);
    if (!APPROVALS.approvers.includes(signer)) {
      throw new Error(`signatures[${place}] is not an approver's signature of this call.`);
    }
    return signer;
  });
  return [...new Set(signers)];
}

function signerOf(call, signature) {
  if (typeof signature !== "string" || !/^0x[0-9a-fA-F]{130}$/.test(signature)) return null;
  try {
    return ethers.utils.verifyTypedData(domain(), { Approval: FIELDS }, call, signature);
  } catch {
    return null; // values that are not on the curve
  }
}
