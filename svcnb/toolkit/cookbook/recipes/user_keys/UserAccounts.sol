// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice Ether of users. The id of an account is the address of the user's first key. The contract has no owner.
contract UserAccounts {
    error NotTheSigner(address signer);
    error MalleableSignature();
    error Expired(uint256 deadline);
    error NotEnough(uint256 balance);
    error NoSigner();
    error PaymentFailed();

    event Deposited(address indexed account, uint256 value);
    event Paid(address indexed account, address indexed to, uint256 value);
    event Migrated(address indexed account, address signer);

    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant PAYMENT =
        keccak256("Payment(address account,address to,uint256 value,uint256 nonce,uint256 deadline)");
    bytes32 private constant MIGRATION =
        keccak256("Migration(address account,address next,uint256 nonce,uint256 deadline)");
    /// @dev Half of the order of secp256k1. The contract rejects signatures with a high `s` value (EIP-2).
    uint256 private constant HALF = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    mapping(address => uint256) public balanceOf;
    /// @notice Nonce that the next order of each account must use.
    mapping(address => uint256) public nonces;
    mapping(address => address) private _migrated;

    /// @notice Returns the address of the key that signs for an account. Before a migration, this is the account itself.
    function signerOf(address account) public view returns (address) {
        address signer = _migrated[account];
        return signer == address(0) ? account : signer;
    }

    /// @notice Adds ether to an account, even if the user has never signed anything.
    function deposit(address account) external payable {
        balanceOf[account] += msg.value;
        emit Deposited(account, msg.value);
    }

    /// @notice Makes a payment that the user's action signed. Anyone can submit it.
    function pay(address account, address to, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external {
        _check(account, keccak256(abi.encode(PAYMENT, account, to, value, nonces[account]++, deadline)), deadline, v, r, s);
        if (balanceOf[account] < value) revert NotEnough(balanceOf[account]);
        balanceOf[account] -= value;
        emit Paid(account, to, value);
        (bool done,) = to.call{value: value}("");
        if (!done) revert PaymentFailed();
    }

    /// @notice Changes the key of an account to the key of another action. The current key must sign this change.
    function migrate(address account, address next, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external {
        if (next == address(0)) revert NoSigner();
        _check(account, keccak256(abi.encode(MIGRATION, account, next, nonces[account]++, deadline)), deadline, v, r, s);
        _migrated[account] = next;
        emit Migrated(account, next);
    }

    function _check(address account, bytes32 content, uint256 deadline, uint8 v, bytes32 r, bytes32 s) private view {
        if (uint256(s) > HALF) revert MalleableSignature();
        if (deadline < block.timestamp) revert Expired(deadline);
        bytes32 domain =
            keccak256(abi.encode(DOMAIN, keccak256("UserAccounts"), keccak256("1"), block.chainid, address(this)));
        address found = ecrecover(keccak256(abi.encodePacked(hex"1901", domain, content)), v, r, s);
        if (found == address(0) || found != signerOf(account)) revert NotTheSigner(found);
    }
}
