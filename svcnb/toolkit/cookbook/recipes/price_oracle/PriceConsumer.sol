// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice Stores the price that an oracle signed. Anyone can submit a price if its signature is valid.
contract PriceConsumer {
    error NotTheOwner();
    error NotTheOracle(address signer);
    error MalleableSignature();
    error TooOld(uint64 at);
    error OfTheFuture(uint64 at);
    error OldRound(uint64 round);

    event Trusted(address oracle);
    event Updated(uint256 price, uint64 at, uint64 round);

    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant PRICE = keccak256("Price(string pair,uint256 price,uint64 at,uint64 round)");
    /// @dev Half of the order of secp256k1. The contract rejects signatures with a high `s` value (EIP-2).
    uint256 private constant HALF = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    address public immutable owner;
    bytes32 public immutable pair;
    uint64 public immutable maxAge;

    address public oracle;
    uint256 public price;
    uint64 public at;
    uint64 public round;

    /// @param pair_ The pair whose price is stored, for example ETH/USD.
    /// @param maxAge_ Maximum age of a price in seconds, when it is submitted and when it is read.
    constructor(string memory pair_, uint64 maxAge_) {
        owner = msg.sender;
        pair = keccak256(bytes(pair_));
        maxAge = maxAge_;
    }

    /// @notice Sets the address of the key that signs prices. This is the key of the trusted action.
    function trust(address oracle_) external {
        if (msg.sender != owner) revert NotTheOwner();
        oracle = oracle_;
        emit Trusted(oracle_);
    }

    /// @notice Accepts a price that the oracle signed for this contract on this chain. The price must be recent, and its
    /// round must be later than the stored round.
    function update(uint256 price_, uint64 at_, uint64 round_, uint8 v, bytes32 r, bytes32 s) external {
        if (uint256(s) > HALF) revert MalleableSignature();
        bytes32 domain =
            keccak256(abi.encode(DOMAIN, keccak256("PriceConsumer"), keccak256("1"), block.chainid, address(this)));
        bytes32 content = keccak256(abi.encode(PRICE, pair, price_, at_, round_));
        address signer = ecrecover(keccak256(abi.encodePacked(hex"1901", domain, content)), v, r, s);
        if (signer == address(0) || signer != oracle) revert NotTheOracle(signer);
        if (at_ > block.timestamp + 60) revert OfTheFuture(at_);
        if (at_ + maxAge < block.timestamp) revert TooOld(at_);
        if (round_ <= round) revert OldRound(round_);
        (price, at, round) = (price_, at_, round_);
        emit Updated(price_, at_, round_);
    }

    /// @notice Returns the price in units of 10^-8. Fails if the price is older than the maximum age.
    function latest() external view returns (uint256) {
        if (at + maxAge < block.timestamp) revert TooOld(at);
        return price;
    }
}
