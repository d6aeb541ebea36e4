/**
 * Computes reference results with npm packages. Tests in Python send lines of JSON, and read one response for each line.
 *
 * - `{"cid": BASE64, "raw": BOOLEAN}`: CID from ipfs-unixfs-importer. If `raw` is true, a CID of version 1 with raw leaves.
 * - `{"github": {"secret", "body"}}`: signature of a webhook from @octokit/webhooks-methods.
 */
import { sign } from "@octokit/webhooks-methods";
import { importer } from "ipfs-unixfs-importer";
import { fixedSize } from "ipfs-unixfs-importer/chunker";
import { balanced } from "ipfs-unixfs-importer/layout";
import { Buffer } from "node:buffer";
import { stdin } from "node:process";
import { createInterface } from "node:readline";

const OPTIONS = {
  cidVersion: 0,
  rawLeaves: false,
  reduceSingleLeafToSelf: true,
  chunker: fixedSize({ chunkSize: 262_144 }),
  layout: balanced({ maxChildrenPerNode: 174 }),
} as const;

const RAW = { cidVersion: 1, rawLeaves: true } as const;

async function cid(content: Uint8Array, raw: boolean): Promise<string> {
  // deno-lint-ignore no-explicit-any
  const store = { put: (cid: unknown) => cid } as any;
  for await (const file of importer([{ content }], store, raw ? { ...OPTIONS, ...RAW } : OPTIONS)) {
    return String(file.cid);
  }
  throw new Error("nothing was imported");
}

for await (const line of createInterface({ input: stdin })) {
  const asked = JSON.parse(line);
  const answer = "cid" in asked
    ? await cid(Buffer.from(asked.cid, "base64"), asked.raw === true)
    : await sign(asked.github.secret, asked.github.body);
  console.log(JSON.stringify(answer));
}
