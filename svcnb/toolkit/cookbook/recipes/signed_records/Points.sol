// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice Points of customers. Each total refers to the last receipt of the previous total, so old totals are invalid.
contract Points {
    error NotTheOwner();
    error NotTheSigner(address signer);
    error MalleableSignature();
    error Expired(uint256 deadline);

    event Trusted(address signer);
    event Updated(address indexed customer, uint256 points, bytes32 head);

    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant TOTAL =
        keccak256("Total(address customer,uint256 points,bytes32 previous,bytes32 head,uint256 deadline)");
    /// @dev Half of the order of secp256k1. The contract rejects signatures with a high `s` value (EIP-2).
    uint256 private constant HALF = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    address public immutable owner;
    address public signer;
    mapping(address => uint256) public pointsOf;
    /// @notice The hash of the last receipt in a customer's accepted total.
    mapping(address => bytes32) public headOf;

    constructor() {
        owner = msg.sender;
    }

    /// @notice Sets the address of the trusted action's key. This action verifies the receipts.
    function trust(address signer_) external {
        if (msg.sender != owner) revert NotTheOwner();
        signer = signer_;
        emit Trusted(signer_);
    }

    /// @notice Accepts a total that the action signed. Anyone can submit it.
    function update(
        address customer,
        uint256 points,
        bytes32 head,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        if (uint256(s) > HALF) revert MalleableSignature();
        if (deadline < block.timestamp) revert Expired(deadline);
        bytes32 domain =
            keccak256(abi.encode(DOMAIN, keccak256("Points"), keccak256("1"), block.chainid, address(this)));
        bytes32 content = keccak256(abi.encode(TOTAL, customer, points, headOf[customer], head, deadline));
        address found = ecrecover(keccak256(abi.encodePacked(hex"1901", domain, content)), v, r, s);
        if (found == address(0) || found != signer) revert NotTheSigner(found);
        (pointsOf[customer], headOf[customer]) = (points, head);
        emit Updated(customer, points, head);
    }
}
