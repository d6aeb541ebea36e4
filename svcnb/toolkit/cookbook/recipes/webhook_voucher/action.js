// Signs a voucher for a payment that a payment provider reports in a request to a webhook.
// The action uses only the exact bytes of the body and the provider's signature. It does not use `event`, which the trigger
// parsed, because anyone who can run the action can pass a different event.

async function main(params) {
  const now = Math.floor(Date.now() / 1000);
  const body = bytesOf(params?.event_raw, params?.event_raw_encoding);
  const { at, signatures } = parsed(params?.headers?.[VOUCHER.header]);
  if (Math.abs(now - at) > VOUCHER.toleranceSeconds) throw new Error("The time of the signature is too far from the current time.");
  const secret = await Svc.Actions.Decrypt({ pkpId: VOUCHER.wallet, ciphertext: VOUCHER.secret });
  const signed = ethers.utils.concat([ethers.utils.toUtf8Bytes(`${at}.`), body]);
  const wanted = ethers.utils.computeHmac("sha256", ethers.utils.toUtf8Bytes(secret), signed).slice(2);
  // Compares all signatures, so that the time does not depend on which of them is correct.
  const right = signatures.map((each) => equal(each, wanted)).includes(true);
  if (!right) throw new Error("The provider did not sign this body.");
  const value = voucher(JSON.parse(ethers.utils.toUtf8String(body)), at);
  const wallet = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());
  const domain = {
    name: "VoucherToken",
    version: "1",
    chainId: VOUCHER.chainId,
    verifyingContract: VOUCHER.contract,
  };
  const types = {
    Voucher: [
      { name: "recipient", type: "address" },
      { name: "quantity", type: "uint256" },
      { name: "payment", type: "bytes32" },
      { name: "deadline", type: "uint256" },
    ],
  };
  return { ...value, signer: wallet.address, signature: await wallet._signTypedData(domain, types, value) };
}

// Returns the voucher for a payment. The deadline depends on the provider's time, so each delivery has one voucher.
function voucher(event, at) {
  if (event?.type !== "payment.succeeded") throw new Error("The event is not a successful payment.");
  const { amount_cents: cents, currency, recipient } = event.payment ?? {};
  if (typeof event.id !== "string" || !/^evt_[A-Za-z0-9]{1,60}$/.test(event.id)) throw new Error("The event has no valid id.");
  if (currency !== VOUCHER.currency) throw new Error(`The payment is not in ${VOUCHER.currency}.`);
  if (!Number.isSafeInteger(cents) || cents < VOUCHER.centsEach) throw new Error("The payment is less than the price of one token.");
  if (typeof recipient !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(recipient)) {
    throw new Error("The payment has no valid recipient address.");
  }
  return {
    recipient: ethers.utils.getAddress(recipient),
    quantity: Math.floor(cents / VOUCHER.centsEach),
    payment: ethers.utils.id(event.id),
    deadline: at + VOUCHER.validSeconds,
  };
}

// Returns the bytes of the body that the trigger passes.
function bytesOf(raw, encoding) {
  if (typeof raw !== "string" || raw.length > 30000) throw new Error("event_raw must be a string of at most 30,000 characters.");
  if (encoding === "base64") return ethers.utils.base64.decode(raw);
  return ethers.utils.toUtf8Bytes(raw);
}

// Parses the header "t=SECONDS,v1=HEX". While a secret is being replaced, the provider sends two signatures.
function parsed(header) {
  const text = Array.isArray(header) && header.length === 1 ? header[0] : "";
  const found = /^t=([0-9]{1,12})((?:,v1=[0-9a-f]{64}){1,3})$/.exec(text);
  if (!found) throw new Error("The request has no valid signature from the provider.");
  return { at: Number(found[1]), signatures: found[2].slice(1).split(",").map((each) => each.slice(3)) };
}

// Compares two strings in a time that depends only on their length.
function equal(one, other) {
  let different = one.length ^ other.length;
  for (let place = 0; place < other.length; place++) {
    different |= one.charCodeAt(place) ^ other.charCodeAt(place);
  }
  return different === 0;
}
