// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @title Minimal contract wallet, for lessons and tests
/// @notice It accepts the signatures of one owner (ERC-1271), who can also call other contracts through it.
contract ContractWallet {
    error OnlyOwner(address sender);

    bytes4 private constant VALID = 0x1626ba7e;
    bytes4 private constant INVALID = 0xffffffff;
    /// Half of the curve order. A signature with a larger s is a second form of another signature (EIP-2).
    uint256 private constant HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0;

    address public immutable owner;

    constructor(address owner_) {
        owner = owner_;
    }

    receive() external payable {}

    /// @return The ERC-1271 magic value if the owner signed the digest.
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) return INVALID;
        bytes32 r = bytes32(signature[:32]);
        bytes32 s = bytes32(signature[32:64]);
        if (uint256(s) > HALF_ORDER) return INVALID;
        address signer = ecrecover(digest, uint8(signature[64]), r, s);
        return signer != address(0) && signer == owner ? VALID : INVALID;
    }

    /// @notice Calls another contract from this wallet. Only the owner may call this.
    function execute(address target, uint256 value, bytes calldata data) external returns (bytes memory) {
        if (msg.sender != owner) revert OnlyOwner(msg.sender);
        (bool done, bytes memory answer) = target.call{value: value}(data);
        if (!done) {
            assembly {
                revert(add(answer, 32), mload(answer))
            }
        }
        return answer;
    }
}
