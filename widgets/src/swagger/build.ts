/** The interactive view of the API, vendored so that it works without internet. Scripts and styles are compressed. */

const PLAIN = ["LICENSE", "favicon-32x32.png"];
const COMPRESSED = ["swagger-ui-bundle.js", "swagger-ui.css"];

export async function build(outDir: string): Promise<void> {
  const source = new URL("../../node_modules/swagger-ui-dist/", import.meta.url);
  for (const name of PLAIN) {
    await Deno.copyFile(new URL(name, source), `${outDir}${name}`);
  }
  for (const name of COMPRESSED) {
    const text = new Blob([await Deno.readFile(new URL(name, source))]);
    const packed = new Response(text.stream().pipeThrough(new CompressionStream("gzip")));
    await Deno.writeFile(`${outDir}${name}.gz`, new Uint8Array(await packed.arrayBuffer()));
  }
}
