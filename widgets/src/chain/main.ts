/** The development chain as a module: `svcnb.emulator.chain.page_node` imports it in a browser, `process.ts` in Deno. */
export { DevelopmentNode } from "./node.ts";
