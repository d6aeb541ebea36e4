// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice Mints tokens, once for each deposit that an action found on the first chain. Anyone can submit a deposit.
contract BridgeMint {
    error NotTheOwner();
    error NotTheSigner(address signer);
    error MalleableSignature();
    error Minted(uint256 number);

    event Trusted(address signer);
    event Transfer(address indexed from, address indexed to, uint256 amount);

    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant DEPOSIT = keccak256("Deposit(uint256 number,address recipient,uint256 amount)");
    /// @dev Half of the order of secp256k1. The contract rejects signatures with a high `s` value (EIP-2).
    uint256 private constant HALF = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    address public immutable owner;
    address public signer;
    mapping(address => uint256) public balanceOf;
    mapping(uint256 => bool) public minted;

    constructor() {
        owner = msg.sender;
    }

    /// @notice Sets the address of the trusted action's key.
    function trust(address signer_) external {
        if (msg.sender != owner) revert NotTheOwner();
        signer = signer_;
        emit Trusted(signer_);
    }

    /// @notice Mints tokens for a deposit that the action signed.
    function mint(uint256 number, address recipient, uint256 amount, uint8 v, bytes32 r, bytes32 s) external {
        if (uint256(s) > HALF) revert MalleableSignature();
        if (minted[number]) revert Minted(number);
        bytes32 domain =
            keccak256(abi.encode(DOMAIN, keccak256("BridgeMint"), keccak256("1"), block.chainid, address(this)));
        bytes32 content = keccak256(abi.encode(DEPOSIT, number, recipient, amount));
        address found = ecrecover(keccak256(abi.encodePacked(hex"1901", domain, content)), v, r, s);
        if (found == address(0) || found != signer) revert NotTheSigner(found);
        minted[number] = true;
        balanceOf[recipient] += amount;
        emit Transfer(address(0), recipient, amount);
    }
}
