/** Quoted strings in the format of Deno's inspector. */
import type * as esbuild from "esbuild";

/** Beginning of the library's function that quotes a string, in the version of the lock file. */
const QUOTING = /function (\w+)\((\w+)\)\{let \w+=\w+,\w+=\w+,\w+=39;/;

function quoted(text: string): string {
  const quote = ['"', "'", "`"].find((each) => !text.includes(each)) ?? '"';
  const names: Record<string, string> = { "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v" };
  let inside = "";
  for (const unit of text.split("")) {
    const code = unit.charCodeAt(0);
    if (unit === quote || unit === "\\") inside += "\\" + unit;
    else if (names[unit] !== undefined) inside += "\\" + names[unit];
    else if (code < 0x20 || (code >= 0x7f && code < 0xa0)) inside += "\\x" + code.toString(16).padStart(2, "0");
    else inside += unit;
  }
  return quote + inside + quote;
}

export function denoQuotes(): esbuild.Plugin {
  return {
    name: "deno-quotes",
    setup(build) {
      build.onLoad({ filter: /node-inspect-extracted.*inspect\.js$/ }, async ({ path }) => {
        const text = await Deno.readTextFile(path);
        if (!QUOTING.test(text)) {
          return {
            errors: [{
              text:
                "cannot find the function of node-inspect-extracted that quotes strings: update the pattern QUOTING",
            }],
          };
        }
        const contents = text.replace(
          QUOTING,
          (begin, _name, argument) => begin.replace("{", `{return (${quoted.toString()})(${argument});`),
        );
        return { contents, loader: "js" };
      });
    },
  };
}
