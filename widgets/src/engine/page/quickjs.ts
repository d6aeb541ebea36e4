import { quickjs } from "./shipped.ts";
export default quickjs;
