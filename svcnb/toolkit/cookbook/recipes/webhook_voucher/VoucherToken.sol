// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice A token. The contract mints tokens once for each payment, if an action signed a voucher for the payment.
/// Anyone can submit a voucher.
contract VoucherToken {
    error NotTheOwner();
    error NotTheSigner(address signer);
    error MalleableSignature();
    error Expired(uint256 deadline);
    error Redeemed(bytes32 payment);

    event Trusted(address signer);
    event Transfer(address indexed from, address indexed to, uint256 amount);

    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant VOUCHER =
        keccak256("Voucher(address recipient,uint256 quantity,bytes32 payment,uint256 deadline)");
    /// @dev Half of the order of secp256k1. The contract rejects signatures with a high `s` value (EIP-2).
    uint256 private constant HALF = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    address public immutable owner;
    address public signer;
    mapping(address => uint256) public balanceOf;
    /// @notice Whether a voucher for a payment was redeemed. The key is the hash of the payment's event id.
    mapping(bytes32 => bool) public redeemed;

    constructor() {
        owner = msg.sender;
    }

    /// @notice Sets the address of the trusted action's key.
    function trust(address signer_) external {
        if (msg.sender != owner) revert NotTheOwner();
        signer = signer_;
        emit Trusted(signer_);
    }

    /// @notice Mints the tokens of a voucher that the action signed. Each payment can be redeemed only once.
    function redeem(
        address recipient,
        uint256 quantity,
        bytes32 payment,
        uint256 deadline,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        if (uint256(s) > HALF) revert MalleableSignature();
        if (deadline < block.timestamp) revert Expired(deadline);
        if (redeemed[payment]) revert Redeemed(payment);
        bytes32 domain =
            keccak256(abi.encode(DOMAIN, keccak256("VoucherToken"), keccak256("1"), block.chainid, address(this)));
        bytes32 content = keccak256(abi.encode(VOUCHER, recipient, quantity, payment, deadline));
        address found = ecrecover(keccak256(abi.encodePacked(hex"1901", domain, content)), v, r, s);
        if (found == address(0) || found != signer) revert NotTheSigner(found);
        redeemed[payment] = true;
        balanceOf[recipient] += quantity;
        emit Transfer(address(0), recipient, quantity);
    }
}
