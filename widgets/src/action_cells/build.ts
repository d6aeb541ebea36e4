/**
 * Builds the extension of JupyterLab and Notebook that highlights cells of `%%action`. The wheel installs the extension
 * for both programs.
 */
import * as esbuild from "esbuild";
import { fileURLToPath } from "node:url";

const ENTRY = "remoteEntry";

export async function build(outDir: string): Promise<void> {
  const folder = `${outDir}/labextensions/svcnb`;
  const { metafile } = await esbuild.build({
    entryPoints: { [ENTRY]: fileURLToPath(new URL("container.ts", import.meta.url)) },
    outdir: `${folder}/static`,
    entryNames: "[name].[hash]", // browsers cache loaded files, so changed content needs a new name
    bundle: true,
    minify: true,
    format: "iife",
    target: ["es2022"],
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
  });
  const script = Object.keys(metafile.outputs)[0]!.split("/").at(-1);
  const described = {
    name: "svcnb",
    version: "0.1.0",
    description: "JavaScript in cells of %%action",
    license: "Apache-2.0",
    jupyterlab: { extension: true, _build: { load: `static/${script}`, extension: "./extension" } },
  };
  await Deno.writeTextFile(`${folder}/package.json`, JSON.stringify(described, null, 2) + "\n");
}
