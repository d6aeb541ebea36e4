/** Complete `ethers` namespace of version 5 for actions. */
export { ethers } from "ethers";
