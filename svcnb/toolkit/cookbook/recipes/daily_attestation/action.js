// Signs one report in each period. Each report contains the hash of the previous report.
// The source of the value, the store and the period are in ATTESTATION, which is part of the source. The action uses no
// parameters, because anyone with the usage key can start it.

async function main() {
  const { title, source, store, periodSeconds, startBy } = ATTESTATION;
  const period = Math.floor(Date.now() / 1000 / periodSeconds);
  const wallet = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());
  const last = await read(`${store}/latest`);
  if (last === null && period > startBy) throw new Error("The store has no report, and it is too late for a first one.");
  if (last !== null) check(last, wallet.address, period);
  const value = (await read(source))?.value;
  // Expects a string of digits, because a JSON number may already be rounded.
  if (typeof value !== "string" || !/^[0-9]{1,30}$/.test(value)) throw new Error("The source did not return a value.");
  const report = { title, period, value, previous: last === null ? ethers.constants.HashZero : hashOf(last) };
  const signed = { ...report, signature: await wallet.signMessage(textOf(report)) };
  const kept = await fetch(`${store}/reports`, { method: "POST", body: JSON.stringify(signed) });
  if (!kept.ok) throw new Error(`The store returned status ${kept.status}.`);
  return { ...signed, signer: wallet.address };
}

// Checks that this action signed the last report in an earlier period, because the store is not trusted.
function check(last, signer, period) {
  let found = null;
  try {
    found = ethers.utils.verifyMessage(textOf(last), last.signature);
  } catch {
    // malformed members or signature
  }
  if (found !== signer) throw new Error("This action did not sign the last report of the store.");
  if (last.period >= period) throw new Error("This period already has a report.");
}

// Returns the signed text with one line for each member. No member has a line end, so each report has only one text.
function textOf({ title, period, value, previous }) {
  if (title !== ATTESTATION.title || !Number.isSafeInteger(period)) throw new Error("The report belongs to a different series.");
  if (typeof value !== "string" || !/^[0-9]{1,30}$/.test(value)) throw new Error("The report has no valid value.");
  if (typeof previous !== "string" || !/^0x[0-9a-f]{64}$/.test(previous)) throw new Error("The report has no valid hash.");
  return `${title}\n${period}\n${value}\n${previous}`;
}

function hashOf(report) {
  return ethers.utils.id(textOf(report));
}

// Returns the JSON response of a service, or null if there is none.
async function read(url) {
  const response = await fetch(url);
  if (response.status === 404) return null;
  const text = await response.text();
  if (!response.ok || text.length > 10000) throw new Error(`${new URL(url).host} returned status ${response.status}.`);
  return JSON.parse(text);
}
