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

// a big number in an answer
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
