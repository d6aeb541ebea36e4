/** Vega for live charts in the browser, and a worker of Deno that draws charts as SVG. */
import { type Loader, loader as vegaLoader, parse, View } from "vega";
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

/** Returns a loader that loads no data and no images, and the list of addresses that it refused. */
function closedLoader() {
  const standard = vegaLoader();
  const refused: string[] = [];
  const refuse = (uri: string): Promise<never> => {
    refused.push(uri);
    return Promise.reject(new Error("refused"));
  };
  const sanitize = async (uri: string, options: { context: "href" | "image" }) => {
    if (options.context === "image") return /^data:image\//i.test(uri) ? { href: uri } : refuse(uri);
    // Vega does not expect that a link is rejected, for example a link with the scheme `javascript`.
    return await standard.sanitize(uri, options).catch(() => ({ href: "about:blank" }));
  };
  return { loader: { ...standard, load: refuse, http: refuse, file: refuse, sanitize } as Loader, refused };
}

async function drawn(spec: TopLevelSpec): Promise<Drawn> {
  const { loader, refused } = closedLoader();
  try {
    const view = new View(parse(compile(spec).spec), { renderer: "none", loader });
    const content = await view.toSVG();
    view.finalize();
    if (refused.length > 0) {
      throw new Error(`the renderer loads no URLs and no files, so the chart must contain its data, not ${refused[0]}`);
    }
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
