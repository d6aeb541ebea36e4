/**
 * Development chain as a script for a browser page. The value of the script is an object with the exports of this
 * module.
 */
export { DevelopmentNode } from "./node.ts";
