// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice Makes calls that an action signed after m of n approvers agreed. Anyone can submit a call.
contract ApprovedCalls {
    error NotAllowed(address caller);
    error NotTheSigner(address signer);
    error MalleableSignature();
    error Expired(uint256 deadline);
    error CallFailed(bytes reason);

    event Trusted(address signer);
    event Executed(uint256 indexed nonce, address indexed to, uint256 value);

    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant CALL =
        keccak256("Call(address to,uint256 value,bytes data,uint256 nonce,uint256 deadline)");
    /// @dev Half of the order of secp256k1. The contract rejects signatures with a high `s` value (EIP-2).
    uint256 private constant HALF = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0;

    address public immutable owner;
    address public signer;
    /// @notice Nonce that the next call must use. Each nonce is used once.
    uint256 public nonce;

    constructor() payable {
        owner = msg.sender;
    }

    receive() external payable {}

    /// @notice Sets the address of the trusted action's key. The owner sets the first action. Afterwards, only an
    /// approved call of this contract to itself can set another action.
    function trust(address signer_) external {
        if (msg.sender != (signer == address(0) ? owner : address(this))) revert NotAllowed(msg.sender);
        signer = signer_;
        emit Trusted(signer_);
    }

    /// @notice Makes a call that the action signed for this contract on this chain.
    function execute(address to, uint256 value, bytes calldata data, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external
        returns (bytes memory)
    {
        if (uint256(s) > HALF) revert MalleableSignature();
        if (deadline < block.timestamp) revert Expired(deadline);
        uint256 used = nonce++; // before the call, so that the called contract cannot use the signature again
        bytes32 domain =
            keccak256(abi.encode(DOMAIN, keccak256("ApprovedCalls"), keccak256("1"), block.chainid, address(this)));
        bytes32 call = keccak256(abi.encode(CALL, to, value, keccak256(data), used, deadline));
        address found = ecrecover(keccak256(abi.encodePacked(hex"1901", domain, call)), v, r, s);
        if (found == address(0) || found != signer) revert NotTheSigner(found);
        emit Executed(used, to, value);
        (bool done, bytes memory answer) = to.call{value: value}(data);
        if (!done) revert CallFailed(answer);
        return answer;
    }
}
