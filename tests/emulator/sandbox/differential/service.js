// the namespace
const main = () => [Svc.Actions === SvcActions, Svc.Auth === SvcAuth, Svc.Headers === SvcHeaders, Object.isFrozen(Svc), Object.keys(Svc), Object.keys(Svc.Actions).sort()];

// keys and addresses
const main = async () => [await Svc.Actions.getPrivateKey({ pkpId: "0x00000000000000000000000000000000000000aa" }), await Svc.Actions.getSvcActionPublicKey({ ipfsId: "QmX" }), await Svc.Actions.getSvcActionWalletAddress({ ipfsId: "QmX" })];

// eleven key operations
const main = async () => { let n = 0; try { for (;;) { await Svc.Actions.getSvcActionWalletAddress({ ipfsId: "Qm" + n }); n++; } } catch (e) { return [n, e.message, e.constructor === Error]; } };

// encryption and decryption
const main = async () => { const pkpId = "0x00000000000000000000000000000000000000aa"; const c = await Svc.Actions.Encrypt({ pkpId, message: "secret ü" }); return [typeof c, await Svc.Actions.Decrypt({ pkpId, ciphertext: c })]; };

// damaged ciphertext
const main = async () => { try { await Svc.Actions.Decrypt({ pkpId: "0x00000000000000000000000000000000000000aa", ciphertext: "00" }); } catch (e) { return [e.name, e.message]; } };

// headers of the request
const main = () => [Svc.Headers.get("x-request-id"), [...Svc.Headers], Svc.Headers.has("nope"), Svc.Headers instanceof Headers];

// concurrent operations
const main = async () => (await Promise.all(["a", "b", "c"].map((x) => Svc.Actions.getSvcActionWalletAddress({ ipfsId: x })))).map((a) => a.length);

// refused requests
const main = async () => { try { await fetch("http://localhost/"); } catch (e) { return [e.name, e.message]; } };

// requests of a strange scheme
const main = async () => { try { await fetch("ftp://localhost/"); } catch (e) { return [e.name, e.message]; } };

// a limit on responses
const main = () => { try { Svc.Actions.setResponse({ response: "x".repeat(1048577) }); } catch (e) { return e.message; } };

// a limit on logs
const main = () => { try { for (;;) console.log("x".repeat(1000)); } catch (e) { return [e.name, e.message]; } };

// no imports to show
const main = () => Svc.Actions.showImportDetails();

// sloppy writes to the namespace do nothing
Svc = 1; Svc.Actions.setResponse = 2; SvcActions.more = 3;
const main = () => [typeof Svc, typeof Svc.Actions.setResponse, SvcActions.more === undefined];

// fetch cannot be replaced
fetch = () => "mine";
const main = () => [typeof fetch, fetch.name, fetch.length];

// parameters are not globals
const main = (params) => [typeof globalThis.params, typeof globalThis.n, params.n, arguments_length()];
function arguments_length() { return main.length; }

// a parameter of each kind
const main = ({ n, list, text }) => [n + 1, list.length, text.toUpperCase()];

// main is called with one argument
function main() { return arguments.length; }

// main on the global object
globalThis.main = (p) => Object.keys(p);

// an async main that responds late
const main = async () => { await new Promise((r) => setTimeout(r, 20)); return "late"; };

// a price check that signs
async function main({ n }) {
  const price = 100 + n;
  if (price < 50) throw new Error("too low");
  const wallet = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());
  const message = ethers.utils.solidityKeccak256(["uint256", "string"], [price, "ETH"]);
  const signature = await wallet.signMessage(ethers.utils.arrayify(message));
  console.log("signed", price);
  return { price, signature, signer: wallet.address };
}
