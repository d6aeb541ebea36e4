/** The complete `ethers` namespace of version 5, as actions see it. */
export { ethers } from "ethers";
