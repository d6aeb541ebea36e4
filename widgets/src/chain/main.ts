/** The development chain as a script for the page of a browser, whose value is what this exports. */
export { DevelopmentNode } from "./node.ts";
