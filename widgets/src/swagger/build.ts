/** Copies the interactive view of the API into the package, so that it works without internet access. */

const FILES = ["LICENSE", "favicon-32x32.png", "swagger-ui-bundle.js", "swagger-ui.css"];

export async function build(outDir: string): Promise<void> {
  const source = new URL("../../node_modules/swagger-ui-dist/", import.meta.url);
  for (const name of FILES) {
    await Deno.copyFile(new URL(name, source), `${outDir}${name}`);
  }
}
