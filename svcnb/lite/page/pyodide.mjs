/**
 * Starts Python from a snapshot when this module is imported. JupyterLite's kernel receives the interpreter from
 * `loadPyodide`.
 */
import * as runtime from "./pyodide-runtime.mjs";
import { startPython } from "./snapshot.mjs";

export const version = runtime.version;

// The snapshot contains random numbers and the time zone of the build, and Pyodide adds "" to the path at each start.
const CONTINUE = `
import random, sys, time
sys.path.remove("")
random.seed()
winter, summer = sorted((time.localtime(time.time() + days * 86400) for days in (0, 182)), key=lambda when: when.tm_gmtoff)
time.timezone, time.altzone, time.tzname = -winter.tm_gmtoff, -summer.tm_gmtoff, (winter.tm_zone, summer.tm_zone)
time.daylight = int(time.timezone != time.altzone)

from svcnb.emulator.chain.page_node import BUNDLE
from svcnb.emulator.sandbox.page_engine import start_early
from svcnb.protocol import curve, in_page, keccak
curve.library()
keccak.keccak256(b"")
in_page.load_script(BUNDLE)
start_early()
`;
const folder = new URL("./", import.meta.url).href;
const output = { stdout: console.log, stderr: console.error };
const started = start();
started.catch(() => undefined); // the caller of loadPyodide receives the error

async function start() {
  const [archive, snapshot] = await Promise.all([decompressed("@PACKAGES@"), decompressed("@MEMORY@")]);
  const python = await startPython(runtime, {
    archive,
    snapshot,
    folder,
    indexURL: folder,
    stdout: (line) => output.stdout(line),
    stderr: (line) => output.stderr(line),
  });
  python.runPython(CONTINUE, { globals: python.toPy({}) });
  return python;
}

async function decompressed(name) {
  const response = await fetch(new URL(name, folder));
  const content = new Uint8Array(await response.arrayBuffer());
  if (content[0] !== 0x1f) return content; // the service worker stores the decompressed file
  const plain = new Response(content).body.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

export function loadPyodide({ stdout, stderr }) {
  Object.assign(output, { stdout, stderr });
  return started;
}
