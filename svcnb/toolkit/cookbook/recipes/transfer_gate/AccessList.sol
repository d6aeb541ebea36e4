// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice A list of addresses that its owner keeps. Whether it permits or bans is decided by who reads it.
contract AccessList {
    error NotTheOwner();

    event Changed(address who, bool listed);

    address public immutable owner;
    mapping(address => bool) public listed;

    constructor() {
        owner = msg.sender;
    }

    /// @notice Puts an address on the list, or takes it off.
    function set(address who, bool listed_) external {
        if (msg.sender != owner) revert NotTheOwner();
        listed[who] = listed_;
        emit Changed(who, listed_);
    }
}
