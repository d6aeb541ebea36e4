import { secp256k1 } from "./shipped.ts";
export default secp256k1;
