// Program that uses all functions of ethers v5 that actions can use. The original ethers ran it once
// (widgets/src/engine/ethers/vectors.ts), and tests/vectors/ethers5.json contains the result. The engine's smaller
// ethers must return the same result.

/** Names of all reachable objects, so that no part of the namespace is missing. */
function names(value, path, depth, seen, out) {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value) || depth === 0) return;
  seen.add(value);
  for (const key of Object.getOwnPropertyNames(value).sort()) {
    if (["arguments", "caller", "name", "length"].includes(key)) continue;
    out.push(path + key);
    // Getters of a namespace only return its members, but those of a class can start work.
    const inner = path.includes("prototype.") ? Object.getOwnPropertyDescriptor(value, key).value : value[key];
    names(inner, `${path}${key}.`, depth - 1, seen, out);
  }
}

/** Returns the value of an expression, or its error. */
async function outcome(f) {
  try {
    const value = await f();
    return typeof value === "bigint" ? String(value) : value ?? null;
  } catch (error) {
    return { error: error.message };
  }
}

async function main() {
  const u = ethers.utils;
  const N = "0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
  const keys = ["01", "02", "7f".repeat(32), "46".repeat(32), N.slice(2, -2) + "40"].map((hex) => u.hexZeroPad("0x" + hex, 32));
  const texts = ["", "a", "hello", "héllo €", "x".repeat(1000)];
  const typed = [
    { name: "Ether Mail", version: "1", chainId: 1, verifyingContract: "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC" },
    {
      Person: [{ name: "name", type: "string" }, { name: "wallet", type: "address" }],
      Mail: [{ name: "from", type: "Person" }, { name: "to", type: "Person[]" }, { name: "contents", type: "string" }, { name: "n", type: "uint256" }],
    },
    {
      from: { name: "Cow", wallet: "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826" },
      to: [{ name: "Bob", wallet: "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB" }],
      contents: "Hello, Bob!",
      n: "123456789012345678901234567890",
    },
  ];
  const transaction = {
    nonce: 7, gasLimit: 21000, to: "0x3535353535353535353535353535353535353535", value: u.parseEther("1.5"), data: "0x1234", chainId: 31337,
  };
  const found = [];
  names(ethers, "", 5, new Set(), found);
  const result = { version: ethers.version, names: found };

  result.wallets = await Promise.all(keys.map(async (key) => {
    const wallet = new ethers.Wallet(key);
    const signing = new u.SigningKey(key);
    return {
      address: wallet.address,
      publicKey: wallet.publicKey,
      compressed: signing.compressedPublicKey,
      messages: await Promise.all(texts.map((text) => wallet.signMessage(text))),
      typed: await wallet._signTypedData(...typed),
      legacy: await wallet.signTransaction({ ...transaction, gasPrice: 20000000000 }),
      modern: await wallet.signTransaction({ ...transaction, type: 2, maxFeePerGas: 3e9, maxPriorityFeePerGas: 1e9 }),
      digest: signing.signDigest(u.id("digest")),
      shared: keys.map((other) => signing.computeSharedSecret(u.computePublicKey(other, true))),
      sums: await Promise.all(keys.map((other) => outcome(() => signing._addPoint(u.computePublicKey(other, false))))),
    };
  }));
  result.zeroDigest = await outcome(() => new u.SigningKey(keys[0]).signDigest("0x" + "00".repeat(32)).compact);
  result.largeDigest = await outcome(() => new u.SigningKey(keys[0]).signDigest("0x" + "ff".repeat(32)).compact);

  const signature = await new ethers.Wallet(keys[3]).signMessage("recover");
  const split = u.splitSignature(signature);
  result.recovered = {
    address: u.verifyMessage("recover", signature),
    publicKey: u.recoverPublicKey(u.hashMessage("recover"), signature),
    typed: u.verifyTypedData(...typed, result.wallets[3].typed),
    other: await outcome(() => u.recoverAddress(u.id("other"), signature)),
    transaction: u.parseTransaction(result.wallets[3].modern).from,
    flipped: await outcome(() => u.recoverAddress(u.hashMessage("recover"), { ...split, v: split.v === 27 ? 28 : 27 })),
  };
  const mistakes = {
    zeroKey: () => new ethers.Wallet("0x" + "00".repeat(32)).address,
    orderKey: () => new ethers.Wallet(N).address,
    overKey: () => new ethers.Wallet("0x" + "ff".repeat(32)).address,
    shortKey: () => new ethers.Wallet("0x1234").address,
    offCurve: () => u.computePublicKey("0x02" + "ff".repeat(32), false),
    badPrefix: () => u.computePublicKey("0x05" + "11".repeat(32), false),
    hybrid: () => u.computePublicKey("0x06" + result.wallets[0].publicKey.slice(4), true),
    zeroR: () => u.recoverPublicKey(u.id("x"), { r: "0x" + "00".repeat(32), s: split.s, v: 27 }),
    zeroS: () => u.recoverPublicKey(u.id("x"), { r: split.r, s: "0x" + "00".repeat(32), v: 27 }),
    overR: () => u.recoverPublicKey(u.id("x"), { r: "0x" + "ff".repeat(32), s: split.s, v: 27 }),
    highS: () => u.recoverAddress(u.id("x"), { r: split.r, s: "0x" + "f0".repeat(32), v: 28 }),
    infinity: () => new u.SigningKey(keys[0])._addPoint(new u.SigningKey(keys[4]).publicKey),
    badDigest: () => new u.SigningKey(keys[0]).signDigest("0x12"),
  };
  result.mistakes = {};
  for (const name in mistakes) result.mistakes[name] = await outcome(mistakes[name]);

  const phrase = "test test test test test test test test test test test junk";
  const root = u.HDNode.fromMnemonic(phrase);
  const account = root.derivePath("m/44'/60'/0'/0/0");
  result.hd = {
    address: account.address,
    extended: account.extendedKey,
    neutered: root.derivePath("m/44'/60'/0'/0").neuter().derivePath("5").address,
    wallet: ethers.Wallet.fromMnemonic(phrase, "m/44'/60'/0'/0/3").address,
    entropy: u.mnemonicToEntropy(phrase),
    seed: u.mnemonicToSeed(phrase, "pass"),
    words: ethers.wordlists.en.getWord(2047),
  };
  result.hashes = {
    keccak: texts.map((text) => u.keccak256(u.toUtf8Bytes(text))),
    blocks: [135, 136, 137, 272].map((n) => u.keccak256(new Uint8Array(n).fill(n))),
    sha256: u.sha256("0x1234"), sha512: u.sha512("0x1234"), ripemd: u.ripemd160("0x1234"),
    hmac: u.computeHmac("sha256", "0x12", "0x34"),
    id: u.id("Transfer(address,address,uint256)"),
    packed: u.solidityKeccak256(["address", "uint8", "string"], [result.wallets[0].address, 5, "x"]),
    message: texts.map((text) => u.hashMessage(text)),
    typed: u._TypedDataEncoder.hash(...typed),
    create: u.getContractAddress({ from: result.wallets[0].address, nonce: 300 }),
    create2: u.getCreate2Address(result.wallets[0].address, u.id("salt"), u.id("code")),
    namehash: ["", "eth", "vitalik.eth", "Faß.eth", "RaFFY🚴‍♂️.eTh", "１２.eth"].map((name) => u.namehash(name)),
    badName: await outcome(() => u.namehash("a..b")),
    dns: u.dnsEncode("vitalik.eth"),
    nameprep: ["Faß", "ＡＢＣ", "straße\u00ad", "İ"].map((name) => u.nameprep(name)),
    badNameprep: await outcome(() => u.nameprep("a\u0221")),
  };
  const abi = new u.Interface(["function transfer(address to, uint256 n) returns (bool)", "event Transfer(address indexed from, address indexed to, uint256 n)", "error Broke(uint256)"]);
  const encoded = abi.encodeFunctionData("transfer", [result.wallets[0].address, "115792089237316195423570985008687907853269984665640564039457584007913129639935"]);
  result.codecs = {
    encoded,
    decoded: String(abi.decodeFunctionData("transfer", encoded)),
    tuple: u.defaultAbiCoder.encode(["tuple(uint8 a, bytes b)[]", "string"], [[{ a: 1, b: "0x12" }], "é"]),
    topics: abi.encodeFilterTopics("Transfer", [null, result.wallets[1].address]),
    error: abi.getSighash("Broke"),
    format: abi.format(u.FormatTypes.full),
    rlp: u.RLP.encode(["0x12", ["0x", "0x1234"]]),
    base58: u.base58.encode("0x00010203ff"),
    base64: u.base64.encode("0x00010203ff"),
    bytes32: u.formatBytes32String("short"),
    units: [u.formatUnits("1234567", 6), u.parseUnits("1.5", 9).toString(), u.commify("1234567.89")],
    checksum: u.getAddress(result.wallets[0].address.toLowerCase()),
    icap: u.getIcapAddress(result.wallets[0].address),
    big: ethers.BigNumber.from("0xffffffffffffffffffffffff").mul(12345).mod("987654321").toString(),
    fixed: ethers.FixedNumber.from("1.5").mulUnsafe(ethers.FixedNumber.from("2.25")).toString(),
  };
  result.keystore = {
    opened: (await ethers.Wallet.fromEncryptedJson(
      await new ethers.Wallet(keys[3]).encrypt("pw", { scrypt: { N: 2, r: 1, p: 1 }, iv: "0x" + "11".repeat(16), salt: "0x" + "22".repeat(32), uuid: "0x" + "33".repeat(16) }),
      "pw",
    )).address,
  };
  return JSON.parse(JSON.stringify(result));
}
