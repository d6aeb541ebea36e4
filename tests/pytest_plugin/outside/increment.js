async function main({ n, pkpId }) {
  if (!pkpId) {
    console.log("counting", n);
    return n + 1;
  }
  const wallet = new ethers.Wallet(await Svc.Actions.getPrivateKey({ pkpId }));
  return { signature: await wallet.signMessage("hello"), address: wallet.address };
}
