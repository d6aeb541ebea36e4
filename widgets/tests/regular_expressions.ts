/** Prints the regular expressions in the given files as JSON: file, line, source and flags of each expression. */
import { typescriptLanguage } from "@codemirror/lang-javascript";

const found: [file: string, line: number, source: string, flags: string][] = [];
for (const file of Deno.args) {
  const text = Deno.readTextFileSync(file);
  typescriptLanguage.parser.parse(text).iterate({
    enter({ name, from, to, node }) {
      const word = text.slice(from, to);
      const line = text.slice(0, from).split("\n").length;
      if (name === "RegExp") {
        const end = word.lastIndexOf("/");
        found.push([file, line, word.slice(1, end), word.slice(end + 1)]);
      } else if (
        name === "VariableName" && word === "RegExp" && /^(New|Call)Expression$/.test(node.parent?.name ?? "")
      ) {
        found.push([file, line, "", ""]);
      }
    },
  });
}
console.log(JSON.stringify(found));
