// Signs orders of one user. The user's name, the identity provider and the contract are in USER, which is part of the
// source. Each user therefore has a different CID and a different key.
// The provider's token contains the user's name and the digest of the order. It is a JWT (RFC 7519), signed with ES256K
// (RFC 8812).

const KINDS = {
  Payment: [
    { name: "account", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
  Migration: [
    { name: "account", type: "address" },
    { name: "next", type: "address" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
};

async function main(params) {
  checkSettings();
  const { kind, order } = checkedOrder(params?.kind, params?.order);
  const types = { [kind]: KINDS[kind] };
  checkToken(params.token, ethers.utils._TypedDataEncoder.hash(domain(), types, order));
  const wallet = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());
  return { kind, order, signer: wallet.address, signature: await wallet._signTypedData(domain(), types, order) };
}

function domain() {
  return { name: "UserAccounts", version: "1", chainId: USER.chainId, verifyingContract: USER.contract };
}

// Accepts only one alphabet, so that two users cannot have names that look alike or differ only in case.
function checkSettings() {
  if (typeof USER.name !== "string" || !/^[a-z][a-z0-9-]{0,31}$/.test(USER.name)) {
    throw new Error("USER.name: expected a letter a-z, then at most 31 characters of a-z, 0-9 and -.");
  }
}

// Returns the order with only the signed members, each in exactly one form.
function checkedOrder(kind, order) {
  if (typeof kind !== "string" || !Object.hasOwn(KINDS, kind)) throw new Error('kind: expected "Payment" or "Migration".');
  const checked = {};
  for (const { name, type } of KINDS[kind]) {
    checked[name] = type === "address" ? address(order?.[name], name) : whole(order?.[name], name);
  }
  const now = Math.floor(Date.now() / 1000);
  if (BigInt(checked.deadline) > BigInt(now + USER.validSeconds)) {
    throw new Error(`order.deadline is more than ${USER.validSeconds} seconds in the future.`);
  }
  return { kind, order: checked };
}

// Checks that the provider signed this token for this app, this user and this order, and that it has not expired.
function checkToken(token, digest) {
  const parts = typeof token === "string" && token.length <= 4000 ? token.split(".") : [];
  if (parts.length !== 3) throw new Error("token: expected a JWT of at most 4,000 characters.");
  const [header, claims] = parts.slice(0, 2).map((part) => json(part));
  // The algorithm is fixed, because otherwise a token could use the algorithm "none".
  if (header?.alg !== "ES256K") throw new Error("token: expected the algorithm ES256K.");
  if (!signedByProvider(`${parts[0]}.${parts[1]}`, bytes(parts[2]))) {
    throw new Error("token: the identity provider did not sign it.");
  }
  const { iss, aud, sub, exp, nonce } = claims ?? {};
  if (iss !== USER.issuer || aud !== USER.audience) throw new Error("token: it is for another app.");
  if (sub !== USER.name) throw new Error("token: it is for another user.");
  if (!Number.isSafeInteger(exp) || exp * 1000 <= Date.now()) throw new Error("token: it has expired.");
  if (nonce !== digest) throw new Error("token: it is for another order.");
}

function signedByProvider(text, signature) {
  if (signature.length !== 64) return false;
  const digest = ethers.utils.sha256(ethers.utils.toUtf8Bytes(text));
  const [r, s] = [signature.slice(0, 32), signature.slice(32)].map((part) => ethers.utils.hexlify(part));
  return [27, 28].some((v) => {
    try {
      return ethers.utils.recoverAddress(digest, { r, s, v }) === USER.provider;
    } catch {
      return false; // values that are not on the curve
    }
  });
}

function bytes(part) {
  if (!/^[A-Za-z0-9_-]+$/.test(part)) throw new Error("token: expected base64url.");
  const text = part.replaceAll("-", "+").replaceAll("_", "/");
  return ethers.utils.base64.decode(text + "=".repeat((4 - (text.length % 4)) % 4));
}

function json(part) {
  try {
    return JSON.parse(ethers.utils.toUtf8String(bytes(part)));
  } catch {
    throw new Error("token: expected JSON in base64url.");
  }
}

function address(given, name) {
  if (typeof given !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(given) || !ethers.utils.isAddress(given)) {
    throw new Error(`order.${name}: expected an address, 0x and 40 hex digits.`);
  }
  return ethers.utils.getAddress(given);
}

// Expects a string of digits below 2^256, because a JSON number may already be rounded.
function whole(given, name) {
  const valid = typeof given === "string" && /^(?:0|[1-9][0-9]{0,77})$/.test(given) && BigInt(given) < 2n ** 256n;
  if (!valid) throw new Error(`order.${name}: expected a whole number below 2^256 as a string, for example "1000".`);
  return given;
}
