/** Addresses of the kernel's machine that this page can open, also where only Jupyter is reachable. */
import type { Panel } from "./panel.ts";

const LOOPBACK = /^(127(\.\d+){3}|localhost|\[::1\])$/;
const found = new Map<string, Promise<string>>();

/** Where Jupyter's own server is, as its page says; an empty text on other pages. */
function jupyterBase(): string {
  try {
    const config = JSON.parse(document.getElementById("jupyter-config-data")?.textContent ?? "{}");
    return String(config.baseUrl ?? "");
  } catch {
    return "";
  }
}

/**
 * Returns an address by way of jupyter-server-proxy, where that is installed, and the same address where it is not.
 * On JupyterHub, Binder and other remote servers the browser cannot reach the kernel's machine in another way.
 */
export async function throughProxy(_at: Panel, address: string): Promise<string> {
  const url = new URL(address);
  const base = jupyterBase();
  if (!LOOPBACK.test(url.hostname) || !base) return address;
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const prefix = `${location.origin}${base.replace(/\/?$/, "/")}proxy/${port}`;
  if (!found.has(prefix)) found.set(prefix, probe(prefix));
  const proxied = await found.get(prefix)!;
  if (!proxied) found.delete(prefix); // it may be there the next time
  return proxied ? `${proxied}${url.pathname}${url.search}${url.hash}` : address;
}

/** The prefix when a proxy answers there, else an empty text. */
async function probe(prefix: string): Promise<string> {
  try {
    const answer = await fetch(`${prefix}/health`, { credentials: "same-origin", redirect: "manual" });
    return answer.ok ? prefix : "";
  } catch {
    return "";
  }
}
