/** Vega for live charts in the browser, and a worker of Deno that draws charts as SVG. */
import { parse, View } from "vega";
import { compile, type TopLevelSpec } from "vega-lite";

export { default as lodashDebounce } from "lodash.debounce";
export { default as vegaEmbed } from "vega-embed";

/** Response of the worker. */
export interface Drawn {
  state: "drawn" | "failed";
  content: string;
}

/** Characters outside production 2 (Char) of XML 1.0. */
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

async function drawn(spec: TopLevelSpec): Promise<Drawn> {
  try {
    const view = new View(parse(compile(spec).spec), { renderer: "none" });
    const content = await view.toSVG();
    view.finalize();
    return { state: "drawn", content };
  } catch (error) {
    return { state: "failed", content: String(error) };
  }
}

if ("Deno" in globalThis) {
  self.onmessage = async ({ data }: MessageEvent<string>) => {
    const { state, content } = await drawn(JSON.parse(data));
    self.postMessage({ state, content: content.replaceAll(FORBIDDEN, "\ufffd") });
  };
}
