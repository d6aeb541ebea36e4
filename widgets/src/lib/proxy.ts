/** Addresses of the kernel's machine that this page can open, even if only Jupyter is reachable. */
const LOOPBACK = /^(127(\.\d+){3}|localhost|\[::1\])$/;
const found = new Map<string, Promise<string>>();

/** Returns the path of Jupyter's server from its page, or an empty string on other pages. */
function jupyterBase(): string {
  try {
    const config = JSON.parse(document.getElementById("jupyter-config-data")?.textContent ?? "{}");
    return String(config.baseUrl ?? "");
  } catch {
    return "";
  }
}

/**
 * Returns the address through jupyter-server-proxy if it is installed, or otherwise the same address. With JupyterHub,
 * Binder and other remote servers, the browser can reach the kernel's machine only through this proxy.
 */
export async function throughProxy(address: string): Promise<string> {
  const url = new URL(address);
  const base = jupyterBase();
  if (!LOOPBACK.test(url.hostname) || !base) return address;
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const prefix = `${location.origin}${base.replace(/\/?$/, "/")}proxy/${port}`;
  if (!found.has(prefix)) found.set(prefix, probe(prefix));
  const proxied = await found.get(prefix)!;
  if (!proxied) found.delete(prefix); // the proxy may be available at the next attempt
  return proxied ? `${proxied}${url.pathname}${url.search}${url.hash}` : address;
}

/** Returns the prefix if a proxy responds there, or otherwise an empty string. */
async function probe(prefix: string): Promise<string> {
  try {
    const answer = await fetch(`${prefix}/health`, { credentials: "same-origin", redirect: "manual" });
    return answer.ok ? prefix : "";
  } catch {
    return "";
  }
}
