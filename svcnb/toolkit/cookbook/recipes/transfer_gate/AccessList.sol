// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice A list of addresses that its owner can change. The action that reads the list either permits only the listed
/// addresses, or rejects them.
contract AccessList {
    error NotTheOwner();

    event Changed(address who, bool listed);

    address public immutable owner;
    mapping(address => bool) public listed;

    constructor() {
        owner = msg.sender;
    }

    /// @notice Adds an address to the list, or removes an address.
    function set(address who, bool listed_) external {
        if (msg.sender != owner) revert NotTheOwner();
        listed[who] = listed_;
        emit Changed(who, listed_);
    }
}
