// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice The part of ERC-20 that actions read and move. Its maker holds everything at first.
contract Token {
    string public constant name = "Example";
    string public constant symbol = "EXM";
    uint8 public constant decimals = 6;
    uint256 public immutable totalSupply;
    mapping(address => uint256) public balanceOf;

    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor(uint256 supply) {
        totalSupply = supply;
        balanceOf[msg.sender] = supply;
        emit Transfer(address(0), msg.sender, supply);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

/// @notice Who signed, by the chain's own arithmetic.
contract Witness {
    bytes32 private constant DOMAIN = keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)");
    bytes32 private constant QUOTE = keccak256("Quote(string pair,uint256 cents,uint64 at)");

    function ofDigest(bytes32 digest, uint8 v, bytes32 r, bytes32 s) public pure returns (address) {
        return ecrecover(digest, v, r, s);
    }

    /// @notice The signer of `personal_sign` over 32 bytes.
    function ofMessage(bytes32 message, uint8 v, bytes32 r, bytes32 s) external pure returns (address) {
        return ofDigest(keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", message)), v, r, s);
    }

    /// @notice The signer of a quote for this contract on this chain (EIP-712).
    function ofQuote(string calldata pair, uint256 cents, uint64 at, uint8 v, bytes32 r, bytes32 s)
        external
        view
        returns (address)
    {
        bytes32 domain = keccak256(abi.encode(DOMAIN, keccak256("Quotes"), block.chainid, address(this)));
        bytes32 quote = keccak256(abi.encode(QUOTE, keccak256(bytes(pair)), cents, at));
        return ofDigest(keccak256(abi.encodePacked(hex"1901", domain, quote)), v, r, s);
    }
}
