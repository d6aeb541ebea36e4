// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice A token whose transfers need a signature by the trusted action's key. The contract stores the address of
/// this key as `gate`.
contract GatedToken {
    error NotTheOwner();
    error NotTheGate(address signer);
    error MalleableSignature();
    error TooLate(uint256 deadline);
    error NotEnough(uint256 balance);

    event GateChanged(address gate);
    event Transfer(address indexed from, address indexed to, uint256 amount);

    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant TRANSFER =
        keccak256("Transfer(address from,address to,uint256 amount,uint256 nonce,uint256 deadline)");
    /// @dev Half of the order of secp256k1. The contract rejects signatures with a high `s` value (EIP-2).
    uint256 private constant HALF = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    address public immutable owner;
    address public gate;
    mapping(address => uint256) public balanceOf;
    /// @notice Nonce that the next transfer from each address must use.
    mapping(address => uint256) public nonces;

    constructor(uint256 supply) {
        owner = msg.sender;
        balanceOf[msg.sender] = supply;
    }

    /// @notice Sets the address of the key that signs transfers. This is the key of the trusted action.
    function setGate(address gate_) external {
        if (msg.sender != owner) revert NotTheOwner();
        gate = gate_;
        emit GateChanged(gate_);
    }

    /// @notice Transfers the caller's tokens. The gate's signature is valid for only this transfer, and only once.
    function transfer(address to, uint256 amount, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external {
        if (uint256(s) > HALF) revert MalleableSignature();
        if (block.timestamp > deadline) revert TooLate(deadline);
        bytes32 domain =
            keccak256(abi.encode(DOMAIN, keccak256("GatedToken"), keccak256("1"), block.chainid, address(this)));
        bytes32 permitted = keccak256(abi.encode(TRANSFER, msg.sender, to, amount, nonces[msg.sender]++, deadline));
        address signer = ecrecover(keccak256(abi.encodePacked(hex"1901", domain, permitted)), v, r, s);
        if (signer == address(0) || signer != gate) revert NotTheGate(signer);
        if (balanceOf[msg.sender] < amount) revert NotEnough(balanceOf[msg.sender]);
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        emit Transfer(msg.sender, to, amount);
    }
}
