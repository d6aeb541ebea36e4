// A template for two actions. If RECORDS has no issuer, the action is the issuer. It signs the next receipt of a customer
// and saves it in the store. If RECORDS has an issuer's CID, the action is the consumer. It verifies all receipts and
// signs their total. The store is not trusted. Each receipt has a number and the hash of the previous receipt.

async function main(params) {
  const wallet = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());
  return RECORDS.issuer ? await consume(params, wallet) : await issue(params, wallet);
}

// --- issuer: anyone can run it; the shop reports sales and refunds ---

async function issue(params, wallet) {
  const order = params?.order;
  if (typeof order !== "string" || !/^[a-z0-9-]{1,32}$/.test(order)) {
    throw new Error("order: expected 1 to 32 characters of a-z, 0-9 and -.");
  }
  const sale = await read(`${RECORDS.shop}/orders/${order}`);
  const customer = address(sale?.customer, "The shop did not return the address of a customer.");
  const cents = sale.cents; // negative for a refund
  if (!Number.isSafeInteger(cents) || cents === 0 || Math.abs(cents) > 1e12) {
    throw new Error("The shop did not return a whole number of cents.");
  }
  const receipts = await verified(customer, wallet.address);
  if (receipts.some((each) => each.order === order)) throw new Error("This order already has a receipt.");
  const receipt = {
    customer,
    order,
    cents,
    number: receipts.length + 1,
    previous: headOf(receipts),
    time: Math.floor(Date.now() / 1000),
  };
  const signed = { receipt, signature: await wallet.signMessage(canonical(receipt)) };
  const kept = await fetch(`${RECORDS.store}/receipts/${customer}`, { method: "POST", body: JSON.stringify(signed) });
  if (!kept.ok) throw new Error(`The store returned status ${kept.status}.`);
  return { ...signed, signer: wallet.address };
}

// --- consumer: the caller specifies the customer and the last receipt that the contract has accepted ---

async function consume(params, wallet) {
  const customer = address(params?.customer, "customer: expected an address, 0x and 40 hex digits.");
  const previous = params.previous;
  // Computes the address from the issuer's CID. A record could contain any issuer, so it is not used for this.
  const issuer = await Svc.Actions.getSvcActionWalletAddress({ ipfsId: RECORDS.issuer });
  const receipts = await verified(customer, ethers.utils.getAddress(issuer));
  const heads = [ethers.constants.HashZero, ...receipts.map(hashOf)];
  if (!heads.includes(previous)) throw new Error("The store did not return the last receipt that the contract accepted.");
  if (previous === heads.at(-1)) throw new Error("The store has no new receipt.");
  const points = receipts.reduce((sum, each) => sum + each.cents, 0);
  if (points < 0) throw new Error("The total of the refunds is larger than the total of the sales.");
  const value = {
    customer,
    points,
    previous,
    head: heads.at(-1),
    deadline: Math.floor(Date.now() / 1000) + RECORDS.validSeconds,
  };
  const domain = { name: "Points", version: "1", chainId: RECORDS.chainId, verifyingContract: RECORDS.contract };
  const types = {
    Total: [
      { name: "customer", type: "address" },
      { name: "points", type: "uint256" },
      { name: "previous", type: "bytes32" },
      { name: "head", type: "bytes32" },
      { name: "deadline", type: "uint256" },
    ],
  };
  return { ...value, signer: wallet.address, signature: await wallet._signTypedData(domain, types, value) };
}

// --- issuer and consumer ---

// Returns all receipts of a customer. Checks the signature, the customer and the order of the receipts.
async function verified(customer, issuer) {
  const records = (await read(`${RECORDS.store}/receipts/${customer}`)) ?? [];
  if (!Array.isArray(records)) throw new Error("The store did not return a list of receipts.");
  const receipts = [];
  for (const record of records) {
    const place = `receipt ${receipts.length + 1} of the store`;
    if (signerOf(record) !== issuer) throw new Error(`The issuer did not sign ${place}.`);
    const receipt = record.receipt;
    if (receipt.customer !== customer) throw new Error(`The customer of ${place} is different.`);
    if (receipt.number !== receipts.length + 1 || receipt.previous !== headOf(receipts)) {
      throw new Error(`The number or the hash in ${place} does not match the previous receipt.`);
    }
    receipts.push(receipt);
  }
  return receipts;
}

function signerOf(record) {
  try {
    return ethers.utils.verifyMessage(canonical(record.receipt), record.signature);
  } catch {
    return null; // malformed members or signature
  }
}

function hashOf(receipt) {
  return ethers.utils.id(canonical(receipt));
}

function headOf(receipts) {
  return receipts.length === 0 ? ethers.constants.HashZero : hashOf(receipts.at(-1));
}

// Returns canonical JSON (RFC 8785) of an object of strings and integers. Equal content always results in equal text.
function canonical(value) {
  const members = Object.keys(value).sort().map((name) => {
    const member = value[name];
    const plain = typeof member === "string" || Number.isSafeInteger(member);
    if (!plain) throw new Error(`${name}: expected a string or a whole number.`);
    return `${JSON.stringify(name)}:${JSON.stringify(member)}`;
  });
  return `{${members.join(",")}}`;
}

// Returns the JSON response of a service, or null if there is none.
async function read(url) {
  const response = await fetch(url);
  if (response.status === 404) return null;
  const text = await response.text();
  if (!response.ok || text.length > 100000) throw new Error(`${new URL(url).host} returned status ${response.status}.`);
  return JSON.parse(text);
}

function address(given, message) {
  if (typeof given !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(given) || !ethers.utils.isAddress(given)) {
    throw new Error(message);
  }
  return ethers.utils.getAddress(given);
}
