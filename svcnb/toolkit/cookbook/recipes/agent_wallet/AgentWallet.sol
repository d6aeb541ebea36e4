// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice A wallet that makes the payments that an action signed. Each payment contains the hash of the previous
/// payment, so no one can repeat or omit a payment.
contract AgentWallet {
    error NotTheOwner();
    error NotTheSigner(address signer);
    error MalleableSignature();
    error Expired(uint256 deadline);
    error PaymentFailed();

    event Trusted(address signer);
    event Paid(address indexed to, uint256 value, bytes32 head);

    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant PAYMENT =
        keccak256("Payment(address to,uint256 value,bytes32 previous,uint256 deadline)");
    /// @dev Half of the order of secp256k1. The contract rejects signatures with a high `s` value (EIP-2).
    uint256 private constant HALF = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    address public immutable owner;
    address public signer;
    /// @notice The hash of the last payment, or 0 before the first payment that the trusted action signs.
    bytes32 public head;

    constructor() payable {
        owner = msg.sender;
    }

    receive() external payable {}

    /// @notice Sets the address of the trusted action's key. The first payment of a newly trusted action has no
    /// previous payment.
    function trust(address signer_) external {
        if (msg.sender != owner) revert NotTheOwner();
        signer = signer_;
        head = 0;
        emit Trusted(signer_);
    }

    /// @notice Returns all ether to the owner.
    function withdraw() external {
        if (msg.sender != owner) revert NotTheOwner();
        _pay(owner, address(this).balance);
    }

    /// @notice Makes a payment that the action signed. Anyone can submit it.
    function pay(address to, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external {
        if (uint256(s) > HALF) revert MalleableSignature();
        if (deadline < block.timestamp) revert Expired(deadline);
        bytes32 domain =
            keccak256(abi.encode(DOMAIN, keccak256("AgentWallet"), keccak256("1"), block.chainid, address(this)));
        bytes32 content = keccak256(abi.encode(PAYMENT, to, value, head, deadline));
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", domain, content));
        address found = ecrecover(digest, v, r, s);
        if (found == address(0) || found != signer) revert NotTheSigner(found);
        head = digest; // before the payment, so that the recipient cannot use the signature again
        emit Paid(to, value, digest);
        _pay(to, value);
    }

    function _pay(address to, uint256 value) private {
        (bool done,) = to.call{value: value}("");
        if (!done) revert PaymentFailed();
    }
}
