// addresses
const main = () => { const u = ethers.utils; return [u.getAddress("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"), u.isAddress("0x12"), u.getIcapAddress("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"), u.getContractAddress({ from: "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", nonce: 5 }), u.getCreate2Address("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0x" + "11".repeat(32), "0x" + "22".repeat(32)), u.computeAddress("0x" + "33".repeat(32))]; };

// keccak and friends
const main = () => { const u = ethers.utils; return [u.keccak256("0x"), u.keccak256(u.toUtf8Bytes("hello")), u.id("Transfer(address,address,uint256)"), u.sha256("0x1234"), u.ripemd160("0x1234"), u.computeHmac("sha256", "0x11", "0x22"), u.sha512("0xab")]; };

// a long keccak
const main = () => ethers.utils.keccak256("0x" + "ab".repeat(40000));

// message hashes
const main = () => [ethers.utils.hashMessage("hi"), ethers.utils.hashMessage(new Uint8Array([1, 2])), ethers.utils.hashMessage("grüße 😀")];

// a message is signed
const main = async () => new ethers.Wallet("0x" + "46".repeat(32)).signMessage("hello");

// a digest is signed and recovered
const main = () => { const k = new ethers.utils.SigningKey("0x" + "46".repeat(32)); const d = ethers.utils.id("x"); const s = k.signDigest(d); return [s, ethers.utils.recoverAddress(d, s), ethers.utils.recoverPublicKey(d, s), k.publicKey, k.compressedPublicKey]; };

// many signatures
const main = () => Array.from({ length: 12 }, (_, i) => ethers.utils.joinSignature(new ethers.utils.SigningKey(ethers.utils.id("k" + i)).signDigest(ethers.utils.id("m" + i))));

// verifying a message
const main = async () => { const w = new ethers.Wallet(ethers.utils.id("w")); const s = await w.signMessage("text"); return [ethers.utils.verifyMessage("text", s) === w.address, ethers.utils.verifyMessage("other", s) === w.address]; };

// typed data is signed
const main = async () => { const w = new ethers.Wallet("0x" + "46".repeat(32)); const domain = { name: "App", version: "1", chainId: 8453, verifyingContract: "0x" + "cc".repeat(20) }; const types = { Mail: [{ name: "from", type: "Person" }, { name: "contents", type: "string" }], Person: [{ name: "name", type: "string" }, { name: "wallet", type: "address" }] }; const value = { from: { name: "Ann", wallet: "0x" + "aa".repeat(20) }, contents: "hi" }; const s = await w._signTypedData(domain, types, value); return [s, ethers.utils._TypedDataEncoder.hash(domain, types, value), ethers.utils.verifyTypedData(domain, types, value, s)]; };

// a transaction is signed
const main = async () => new ethers.Wallet("0x" + "46".repeat(32)).signTransaction({ to: "0x" + "35".repeat(20), nonce: 9, gasLimit: 21000, gasPrice: ethers.utils.parseUnits("20", "gwei"), value: ethers.utils.parseEther("1"), data: "0x", chainId: 1 });

// a transaction with fees is signed
const main = async () => { const raw = await new ethers.Wallet("0x" + "46".repeat(32)).signTransaction({ type: 2, to: "0x" + "35".repeat(20), nonce: 1, gasLimit: 50000, maxFeePerGas: 30e9, maxPriorityFeePerGas: 1e9, value: 5, chainId: 8453, accessList: [{ address: "0x" + "11".repeat(20), storageKeys: ["0x" + "00".repeat(32)] }] }); const t = ethers.utils.parseTransaction(raw); return [raw, t.hash, t.from, t.maxFeePerGas.toString()]; };

// units
const main = () => { const u = ethers.utils; return [u.parseEther("1.5").toString(), u.formatEther("1"), u.formatUnits("123456789", 6), u.parseUnits("-0.000001", 6).toString(), u.commify("1234567.8901"), u.formatEther(ethers.constants.MaxUint256)]; };

// big numbers
const main = () => { const B = ethers.BigNumber; const a = B.from("0x1234567890abcdef1234"), b = B.from(1e9); return [a.add(b), a.mul(b), a.div(b), a.mod(b), a.sub(b).toHexString(), a.pow(3).toString(), a.mask(8).toNumber(), a.shl(3).toString(), a.gt(b), b.toNumber(), B.from(-5).abs().toString(), B.isBigNumber(a)].map((x) => x.toString()); };

// a big number in a response
const main = () => ethers.BigNumber.from(5);

// fixed numbers
const main = () => { const F = ethers.FixedNumber; return [F.from("1.25").addUnsafe(F.from("2.5")).toString(), F.from("10").divUnsafe(F.from("3")).toString(), F.from("3.75").round(1).toString(), F.from("-2").toUnsafeFloat()]; };

// abi coding
const main = () => { const c = ethers.utils.defaultAbiCoder; const d = c.encode(["uint256", "string", "address[]", "tuple(bool a, bytes b)"], [5, "grüße", ["0x" + "11".repeat(20)], { a: true, b: "0x1234" }]); const [n, s, list, t] = c.decode(["uint256", "string", "address[]", "tuple(bool a, bytes b)"], d); return [d, n.toString(), s, list, t.a, t.b]; };

// interfaces
const main = () => { const i = new ethers.utils.Interface(["function transfer(address to, uint256 amount) returns (bool)", "event Transfer(address indexed from, address indexed to, uint256 value)", "error Bad(uint256 code)"]); const data = i.encodeFunctionData("transfer", ["0x" + "11".repeat(20), 5]); return [data, i.getSighash("transfer"), i.getEventTopic("Transfer"), i.decodeFunctionData("transfer", data).amount.toString(), i.parseTransaction({ data }).name, i.format("full")]; };

// a log is parsed
const main = () => { const i = new ethers.utils.Interface(["event Transfer(address indexed from, address indexed to, uint256 value)"]); const { topics, data } = i.encodeEventLog(i.getEvent("Transfer"), ["0x" + "11".repeat(20), "0x" + "22".repeat(20), 7]); const p = i.parseLog({ topics, data }); return [topics, data, p.name, p.args.value.toString(), p.signature]; };

// packed encodings
const main = () => [ethers.utils.solidityPack(["uint8", "string", "address"], [5, "ab", "0x" + "11".repeat(20)]), ethers.utils.solidityKeccak256(["uint256", "bytes32"], [1, "0x" + "22".repeat(32)]), ethers.utils.soliditySha256(["int8"], [-1])];

// bytes
const main = () => { const u = ethers.utils; return [u.arrayify("0x1234"), u.hexlify([1, 255]), u.hexZeroPad("0x1", 4), u.concat(["0x12", [3]]), u.stripZeros("0x0012"), u.hexDataSlice("0x123456", 1, 2), u.hexValue(16), u.isHexString("0xz"), u.hexConcat(["0x1234", "0x56"]), u.zeroPad([1], 3), u.hexDataLength("0x1234")]; };

// signatures split and join
const main = () => { const s = "0x" + "11".repeat(32) + "22".repeat(32) + "1c"; const p = ethers.utils.splitSignature(s); return [p, ethers.utils.joinSignature(p)]; };

// texts
const main = () => { const u = ethers.utils; return [u.toUtf8Bytes("é€"), u.toUtf8String("0xc3a9"), u.formatBytes32String("hi"), u.parseBytes32String("0x6869" + "00".repeat(30)), u.nameprep("Straße"), u.toUtf8CodePoints("😀")]; };

// names
const main = () => [ethers.utils.namehash("vitalik.eth"), ethers.utils.isValidName("a..b"), ethers.utils.dnsEncode("a.eth")];

// names with tables
const main = () => ethers.utils.namehash("Größe.eth");

// rlp
const main = () => [ethers.utils.RLP.encode(["0x12", ["0x", "0x3456"]]), ethers.utils.RLP.decode("0xc6128203e8c20180".slice(0, 6) === "0xc612" ? "0xc50183020406" : "0x")];

// base codings
const main = () => [ethers.utils.base58.encode("0x1234"), ethers.utils.hexlify(ethers.utils.base58.decode("5T8")), ethers.utils.base64.encode("0x1234"), ethers.utils.base64.decode("EjQ=")];

// ecdh
const main = () => { const a = new ethers.utils.SigningKey(ethers.utils.id("a")), b = new ethers.utils.SigningKey(ethers.utils.id("b")); return [a.computeSharedSecret(b.publicKey), a.computeSharedSecret(b.publicKey) === b.computeSharedSecret(a.compressedPublicKey)]; };

// extended keys
const main = () => { const n = ethers.utils.HDNode.fromSeed("0x" + "ab".repeat(32)); const c = n.derivePath("m/44'/60'/0'/0/3"); return [c.address, c.privateKey, c.neuter().derivePath("1").address, n.extendedKey]; };

// mnemonics as entropy
const main = () => [ethers.utils.entropyToMnemonic("0x" + "00".repeat(16)), ethers.utils.mnemonicToEntropy("abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"), ethers.utils.isValidMnemonic("abandon abandon")];

// constants
const main = () => { const c = ethers.constants; return [c.AddressZero, c.HashZero, c.EtherSymbol, c.MaxUint256.toHexString(), c.WeiPerEther.toString(), c.NegativeOne.toString()]; };

// wallets
const main = async () => { const w = new ethers.Wallet("0x" + "46".repeat(32)); return [w.address, w.publicKey, await w.getAddress(), ethers.Wallet.isSigner(w), w.privateKey, ethers.VoidSigner.isSigner(w)]; };

// random wallets differ
const main = () => { const a = ethers.Wallet.createRandom ? ethers.utils.hexlify(ethers.utils.randomBytes(32)) : ""; return [a.length, a !== ethers.utils.hexlify(ethers.utils.randomBytes(32))]; };

// shuffled keeps everything
const main = () => ethers.utils.shuffled([1, 2, 3, 4, 5]).sort();

// properties
const main = async () => { const o = {}; ethers.utils.defineReadOnly(o, "x", 5); return [o.x, Object.getOwnPropertyDescriptor(o, "x").writable, await ethers.utils.resolveProperties({ a: Promise.resolve(1), b: 2 }), ethers.utils.shallowCopy({ z: 1 }), ethers.utils.deepCopy({ l: [1] })]; };

// access lists
const main = () => ethers.utils.accessListify({ ["0x" + "11".repeat(20)]: ["0x" + "22".repeat(32)] });

// errors carry codes
const main = () => { const out = []; for (const f of [() => ethers.BigNumber.from("x"), () => ethers.utils.parseUnits("1.1234567", 6), () => ethers.utils.arrayify("zz"), () => new ethers.Wallet("0x12"), () => ethers.utils.defaultAbiCoder.decode(["uint256"], "0x12"), () => ethers.utils.formatBytes32String("x".repeat(40))]) { try { f(); } catch (e) { out.push([e.code, e.reason ?? null, e.message.slice(0, 80)]); } } return out; };

// provider without a network
const main = async () => { const p = new ethers.providers.JsonRpcProvider("http://localhost:1", { chainId: 5, name: "x" }); return [(await p.getNetwork()).chainId, p.connection.url, ethers.providers.getNetwork("homestead").chainId, p instanceof ethers.providers.BaseProvider]; };

// contracts encode
const main = async () => { const c = new ethers.Contract("0x" + "11".repeat(20), ["function f(uint256 x) view returns (uint256)", "function g() payable"]); return [c.address, c.interface.encodeFunctionData("f", [5]), (await c.populateTransaction.g()).data, Object.keys(c.functions)]; };

// the namespace
const main = () => [ethers.version, typeof ethers.Contract, Object.keys(ethers).length, Object.keys(ethers.utils).length, ethers.utils.Logger.levels.DEBUG];

// a key of the service signs
const main = async () => { const k = await Svc.Actions.getPrivateKey({ pkpId: "0x00000000000000000000000000000000000000aa" }); return new ethers.Wallet(k).signMessage("from the wallet"); };

// the action's own key signs
const main = async () => { const w = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey()); return [w.address, await w.signMessage("mine")]; };

// price oracle signs an attestation
const main = async ({ n }) => { const feed = { pair: "ETH/USD", price: "3141.59", decimals: 8, ts: 1700000000 }; const value = ethers.utils.parseUnits(feed.price, feed.decimals); const digest = ethers.utils.arrayify(ethers.utils.solidityKeccak256(["bytes32", "int256", "uint64"], [ethers.utils.formatBytes32String(feed.pair), value, feed.ts])); const w = new ethers.Wallet("0x" + "11".repeat(32)); const flat = await w.signMessage(digest); const sig = ethers.utils.splitSignature(flat); return { value: value.toString(), flat, v: sig.v, r: sig.r, yParityAndS: sig._vs, compact: sig.compact, back: ethers.utils.verifyMessage(digest, flat) === w.address }; };

// a typed order with nested structs and arrays
const main = async () => { const w = new ethers.Wallet("0x" + "22".repeat(32)); const domain = { name: "Exchange", version: "2", chainId: 137, verifyingContract: "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC", salt: ethers.utils.id("salt") }; const types = { Order: [{ name: "maker", type: "address" }, { name: "assets", type: "Asset[]" }, { name: "fee", type: "Fee" }, { name: "nonce", type: "uint256" }, { name: "live", type: "bool" }], Asset: [{ name: "token", type: "address" }, { name: "ids", type: "uint256[2]" }, { name: "note", type: "string" }, { name: "data", type: "bytes" }], Fee: [{ name: "bps", type: "uint16" }, { name: "to", type: "address" }] }; const order = { maker: w.address, assets: [{ token: domain.verifyingContract, ids: [1, "0x02"], note: "ümlaut", data: "0xdead" }, { token: w.address, ids: [3, 4], note: "", data: "0x" }], fee: { bps: 250, to: w.address }, nonce: ethers.constants.MaxUint256, live: true }; const e = ethers.utils._TypedDataEncoder; return { sig: await w._signTypedData(domain, types, order), hash: e.hash(domain, types, order), primary: e.getPrimaryType(types), enc: e.from(types).encodeType("Order"), payload: e.getPayload(domain, types, order) }; };

// a merkle tree with sorted pairs and a proof
const main = () => { const k = ethers.utils.keccak256; const leaves = ["alice", "bob", "carol", "dave", "erin"].map((n, i) => k(ethers.utils.defaultAbiCoder.encode(["string", "uint256"], [n, i * 100]))); const pair = (a, b) => k(ethers.utils.hexConcat([a, b].sort())); const layers = [leaves]; while (layers.at(-1).length > 1) { const l = layers.at(-1); layers.push(l.reduce((o, x, i) => (i % 2 ? o : [...o, l[i + 1] ? pair(x, l[i + 1]) : x]), [])); } const proof = (i) => layers.slice(0, -1).flatMap((l) => { const s = l[i ^ 1]; i >>= 1; return s ? [s] : []; }); return { root: layers.at(-1)[0], p: proof(2), ok: proof(2).reduce((h, s) => pair(h, s), leaves[2]) === layers.at(-1)[0] }; };

// abi decoding of a transfer log
const main = () => { const i = new ethers.utils.Interface(["event Transfer(address indexed from, address indexed to, uint256 value)", "function transfer(address to, uint256 amount) returns (bool)", "error Broke(uint256 have, uint256 want)"]); const a = "0x" + "ab".repeat(20); const log = i.encodeEventLog("Transfer", [a, ethers.constants.AddressZero, 12345]); const p = i.parseLog(log); const t = i.parseTransaction({ data: i.encodeFunctionData("transfer", [a, "1000000000000000000"]), value: 0 }); const err = i.parseError(i.encodeErrorResult("Broke", [1, 2])); return [log.topics, p.name, p.signature, p.args.from, p.args.value.toString(), t.sighash, t.args.amount.toString(), err.name, err.args.want.toNumber(), i.format("full"), i.getSighash("transfer")]; };

// human readable abi to json
const main = () => JSON.parse(new ethers.utils.Interface(["constructor(address a) payable", "function f(tuple(uint a, string[] b)[] x) view returns (int8, bytes3)", "event E(uint indexed a, string b) anonymous"]).format(ethers.utils.FormatTypes.json));

// big numbers at their edges
const main = () => { const B = ethers.BigNumber; const x = B.from("0x" + "f".repeat(64)); return [x.add(1).toString(), x.mul(x).toHexString(), B.from(-5).div(2).toString(), B.from(-5).mod(3).toString(), B.from(-5).toTwos(8).toString(), B.from(251).fromTwos(8).toString(), B.from(10).pow(30).toString(), B.from("1000").shl(70).shr(68).toString(), x.mask(9).toNumber(), B.from(7).xor(2).or(8).and(13).toString(), B.from("0x10").eq(16), B.from(3).lt("4"), B.isBigNumber(x), JSON.stringify(B.from(42)), B.from(99n).toBigInt() === 99n]; };

// fixed numbers round and divide
const main = () => { const F = ethers.FixedNumber; const a = F.from("1.005", "fixed128x18"), b = F.fromString("-3.3333"); return [a.mulUnsafe(a).toString(), b.divUnsafe(F.from(7)).toString(), b.floor().toString(), b.ceiling().toString(), F.from("2.5").round().toString(), F.from("-2.5").round(0).toString(), a.format.name, F.fromValue(ethers.BigNumber.from(123456), 4).toString(), F.from("0.1").addUnsafe(F.from("0.2")).toString(), F.from("12.30").isZero(), F.fromBytes("0x0100", "fixed16x2").toString()]; };

// errors of ethers are caught and read
const main = () => [() => ethers.BigNumber.from("1.5"), () => ethers.utils.getAddress("0x8ba1f109551bd432803012645ac136ddd64dba7"), () => ethers.utils.getAddress("0x8Ba1f109551bD432803012645Ac136ddd64DBA72"), () => ethers.utils.parseUnits("1.123", 2), () => ethers.BigNumber.from(2).pow(60).toNumber(), () => ethers.utils.hexlify(-1), () => ethers.BigNumber.from(1).div(0), () => ethers.utils.formatBytes32String("x".repeat(32)), () => new ethers.Wallet("0x12"), () => ethers.utils.defaultAbiCoder.encode(["uint8"], [256]), () => ethers.utils.defaultAbiCoder.decode(["uint256"], "0x1234"), () => ethers.utils.toUtf8String("0xff"), () => ethers.utils.base58.decode("0OIl"), () => ethers.utils.RLP.decode("0x83aabb")].map((f) => { try { return ["no error", String(f())]; } catch (e) { return [e.code, e.reason, e.message, e.argument, e.name, e instanceof Error, Object.keys(e)]; } });

// legacy, access list and 1559 transactions
const main = async () => { const w = new ethers.Wallet("0x" + "33".repeat(32)); const base = { to: "0x" + "44".repeat(20), value: ethers.utils.parseEther("0.5"), nonce: 7, gasLimit: 21000, chainId: 1, data: "0xabcdef" }; const txs = [{ ...base, gasPrice: 20e9 }, { ...base, type: 1, gasPrice: 1, accessList: [["0x" + "55".repeat(20), [ethers.constants.HashZero]]] }, { ...base, type: 2, maxFeePerGas: "0x77359400", maxPriorityFeePerGas: 1e9 }]; const out = []; for (const t of txs) { const raw = await w.signTransaction(t); const p = ethers.utils.parseTransaction(raw); out.push([raw, p.hash, p.from, p.v, p.type, ethers.utils.keccak256(ethers.utils.serializeTransaction(t))]); } return out; };

// unicode of ethers
const main = () => { const u = ethers.utils; return [u.toUtf8Bytes("é", u.UnicodeNormalizationForm.NFD).length, u.toUtf8CodePoints("a😀"), u._toEscapedUtf8String("0x61ff", u.Utf8ErrorFuncs.replace), u.toUtf8String("0xe282acff", u.Utf8ErrorFuncs.ignore), u.nameprep("Straße"), u.namehash("vitalik.eth"), u.dnsEncode("a.eth"), u.isValidName("x..y"), u.toUtf8String("0xc0af", u.Utf8ErrorFuncs.replace)]; };

// create and create2 addresses
const main = () => { const a = "0x8ba1f109551bD432803012645Ac136ddd64DBA72"; return [ethers.utils.getContractAddress({ from: a, nonce: 0 }), ethers.utils.getContractAddress({ from: a, nonce: 300 }), ethers.utils.getCreate2Address(a, ethers.utils.id("s"), ethers.utils.keccak256("0x6080")), ethers.utils.getIcapAddress(a), ethers.utils.getAddress("XE65GB6LDNXYOFTX0NSV3FUWKOWIXAMJK36"), ethers.utils.isAddress("nope")]; };

// a contract object without a network populates a call
const main = async () => { const c = new ethers.Contract("0x" + "66".repeat(20), ["function mint(address to, uint256 id) payable", "function balanceOf(address) view returns (uint256)"]); const t = await c.populateTransaction.mint("0x" + "77".repeat(20), 5, { gasLimit: 100000, value: 3 }); return [t, Object.keys(c.functions), c.address, c.interface.getFunction("mint").payable, typeof c.balanceOf, c.filters]; };

// recovering public keys and shared secrets
const main = () => { const k = new ethers.utils.SigningKey("0x" + "12".repeat(32)), o = new ethers.utils.SigningKey("0x" + "34".repeat(32)); const d = ethers.utils.id("m"); const s = k.signDigest(d); return [k.publicKey, k.compressedPublicKey, k.computeSharedSecret(o.publicKey) === o.computeSharedSecret(k.compressedPublicKey), ethers.utils.recoverPublicKey(d, s), ethers.utils.recoverAddress(d, { r: s.r, _vs: s._vs }), k._addPoint(o.publicKey), ethers.utils.computePublicKey(k.publicKey, true), ethers.utils.joinSignature(s)]; };

// hashes and kdfs
const main = () => { const u = ethers.utils; return [u.sha256("0x01"), u.sha512("0x"), u.ripemd160(u.toUtf8Bytes("abc")), u.computeHmac("sha256", "0x0b", "0x68"), u.soliditySha256(["uint8", "string"], [7, "x"]), u.solidityPack(["int16", "bytes1", "bool[]", "address"], [-2, "0x42", [true, false], "0x" + "88".repeat(20)])]; };

// hex and byte helpers
const main = () => { const u = ethers.utils; return [u.hexZeroPad("0x1", 4), u.hexStripZeros("0x0001"), u.hexDataSlice("0x01020304", 1, 3), u.hexDataLength("0x0102"), u.hexValue(255), u.hexlify([1, 2]), u.hexlify(new Uint8Array([255])), u.arrayify("0x0102"), u.concat(["0x01", [2, 3]]), u.stripZeros([0, 0, 1]), u.zeroPad([1], 3), u.isHexString("0x1g"), u.isBytesLike([256]), u.hexlify("0xABC", { hexPad: "left" }), u.hexlify(123n), u.base64.encode("0x010203"), u.base64.decode("AQID")]; };

// encrypted keystores are read
const main = async () => { const json = JSON.stringify({ address: "008aeeda4d805471df9b2a5b0f38a0c3bcba786b", id: "e13b209c-3b2f-4327-bab0-3bef2e51630d", version: 3, Crypto: { cipher: "aes-128-ctr", cipherparams: { iv: "83dbcc02d8ccb40e466191a123791e0e" }, ciphertext: "d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c", kdf: "pbkdf2", kdfparams: { c: 64, dklen: 32, prf: "hmac-sha256", salt: "ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19" }, mac: "00" } }); try { return (await ethers.Wallet.fromEncryptedJson(json, "testpassword")).address; } catch (e) { return [e.code, e.message]; } };

// formatting ether
const main = () => ["0", "1", "-1", "1000000000000000000", "123456789012345678901234567890", "10"].flatMap((w) => [ethers.utils.formatEther(w), ethers.utils.formatUnits(w, "gwei"), ethers.utils.formatUnits(w, 30), ethers.utils.commify(ethers.utils.formatEther(w))]);

// parsing ether
const main = () => ["0", "-0.5", "1.", ".5", "000.100", "1e3", "", "1_000", " 1", "115792089237316195423570985008687907853269984665640564039457.584007913129639935"].map((t) => { try { return ethers.utils.parseEther(t).toString(); } catch (e) { return [e.code, e.reason]; } });

// multi sig threshold
const main = async () => { const d = ethers.utils.hashMessage("release"); const ws = [1, 2, 3, 4].map((n) => new ethers.Wallet(ethers.utils.hexZeroPad(ethers.utils.hexlify(n), 32))); const sigs = await Promise.all(ws.map(async (w) => ({ who: w.address, sig: await w.signMessage("release") }))); sigs.sort((a, b) => (BigInt(a.who) < BigInt(b.who) ? -1 : 1)); const valid = sigs.filter(({ who, sig }) => ethers.utils.recoverAddress(d, sig) === who); return { need: 3, got: valid.length, order: valid.map((v) => v.who), packed: ethers.utils.hexConcat(valid.map((v) => v.sig)) }; };

// abi coder with many types
const main = () => { const t = ["uint256", "int8[3]", "tuple(string name, bytes32 id, tuple(bool x, address y)[] inner)", "bytes", "string[][]"]; const v = [1, [-1, 0, 1], { name: "n", id: ethers.utils.id("a"), inner: [{ x: true, y: ethers.constants.AddressZero }] }, "0x1234", [["a"], [], ["b", "c"]]]; const e = ethers.utils.defaultAbiCoder.encode(t, v); const d = ethers.utils.defaultAbiCoder.decode(t, e); return [e, d[2].name, d[2].inner[0].x, d[1], String(d[0]), d[4], Array.isArray(d), Object.isFrozen(d), d.length, ethers.utils.defaultAbiCoder.getDefaultValue(["uint8", "string", "bool[2]"])]; };

// a decoded result has names and numbers
const main = () => { const d = ethers.utils.defaultAbiCoder.decode(["uint8 a", "uint8 length", "string a", "bytes1 b"], ethers.utils.defaultAbiCoder.encode(["uint8", "uint8", "string", "bytes1"], [1, 2, "x", "0xff"])); console.log(d); console.log({ ...d }); return [Object.keys(d), d.a, d.length, d.b, [...d]]; };

// console shows objects of ethers
const main = () => { console.log(ethers.BigNumber.from(5)); console.log(ethers.utils.parseEther("1"), [ethers.constants.Two]); console.log(new ethers.Wallet("0x" + "01".repeat(32)).address, ethers.version); console.log(ethers.utils.splitSignature("0x" + "11".repeat(64) + "1b")); };

// wallets show themselves
const main = () => { const w = new ethers.Wallet("0x" + "01".repeat(32)); return [Object.keys(w), JSON.stringify(w), String(w), w._isSigner, w.provider, w instanceof ethers.Signer, ethers.Signer.isSigner(w), w.connect(null).address, Object.isFrozen(w)]; };

// classes of ethers have names and kinds
const main = () => { console.log(ethers.Wallet, ethers.BigNumber, ethers.utils.id, ethers.Contract, ethers.providers.JsonRpcProvider); console.log([ethers.utils.Interface], { f: ethers.utils.keccak256 }); return [ethers.Wallet.name, ethers.utils.id.name, ethers.utils.id.length, typeof ethers.Wallet, Object.keys(ethers).length, Object.keys(ethers.utils).slice(0, 5)]; };

// a void signer and a json rpc provider without asking it
const main = async () => { const p = new ethers.providers.StaticJsonRpcProvider("http://127.0.0.1:1", 5); const v = new ethers.VoidSigner("0x" + "99".repeat(20), p); return [await v.getAddress(), p.connection.url, (await p.getNetwork()).name, p._isProvider, await v.signMessage("x").catch((e) => [e.code, e.message])]; };

// a bloom of units
const main = () => ["wei", "kwei", "mwei", "gwei", "szabo", "finney", "ether"].map((u) => [u, ethers.utils.parseUnits("1", u).toString(), ethers.utils.formatUnits("1", u)]);

// checking signatures by hand with the curve
const main = () => { const w = new ethers.Wallet("0x" + "05".repeat(32)); const h = ethers.utils.id("hi"); const s = w._signingKey().signDigest(h); const flipped = { r: s.r, s: ethers.utils.hexZeroPad(ethers.BigNumber.from("0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141").sub(s.s).toHexString(), 32), v: s.v === 27 ? 28 : 27 }; const tries = []; for (const v of [27, 28, 0, 1]) { try { tries.push(ethers.utils.recoverAddress(h, { ...s, v, recoveryParam: undefined }) === w.address); } catch (e) { tries.push(e.reason); } } try { tries.push(ethers.utils.recoverAddress(h, flipped)); } catch (e) { tries.push(e.message); } return tries; };
