// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice A club. An action signs the address of a member and the end of the membership. Anyone can submit
/// the response of the action.
contract Club {
    error NotTheOwner();
    error NotTheSigner(address signer);
    error MalleableSignature();
    error Expired(uint256 until);

    event Trusted(address signer);
    event Joined(address indexed member, uint256 until);

    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant MEMBERSHIP = keccak256("Membership(address member,uint256 until)");
    /// @dev Half of the order of secp256k1. The contract rejects signatures with a high `s` value (EIP-2).
    uint256 private constant HALF = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    address public immutable owner;
    address public signer;
    mapping(address => uint256) public memberUntil;

    constructor() {
        owner = msg.sender;
    }

    /// @notice Sets the address of the trusted action's key.
    function trust(address signer_) external {
        if (msg.sender != owner) revert NotTheOwner();
        signer = signer_;
        emit Trusted(signer_);
    }

    /// @notice Admits a member until the signed time. If the stored end of the membership is later, it does not change.
    function join(address member, uint256 until, uint8 v, bytes32 r, bytes32 s) external {
        if (uint256(s) > HALF) revert MalleableSignature();
        if (until < block.timestamp) revert Expired(until);
        bytes32 domain = keccak256(abi.encode(DOMAIN, keccak256("Club"), keccak256("1"), block.chainid, address(this)));
        bytes32 content = keccak256(abi.encode(MEMBERSHIP, member, until));
        address found = ecrecover(keccak256(abi.encodePacked(hex"1901", domain, content)), v, r, s);
        if (found == address(0) || found != signer) revert NotTheSigner(found);
        if (until > memberUntil[member]) memberUntil[member] = until;
        emit Joined(member, until);
    }

    /// @notice Returns whether an address is a member now.
    function isMember(address who) external view returns (bool) {
        return memberUntil[who] >= block.timestamp;
    }
}
