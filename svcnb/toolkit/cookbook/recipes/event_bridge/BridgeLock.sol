// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice Locks ether on the first chain. Each deposit has a number, which does not depend on its block.
contract BridgeLock {
    event Deposited(uint256 indexed number, address indexed recipient, uint256 amount);

    uint256 public deposits;

    /// @notice Deposits ether for a recipient on the other chain.
    function deposit(address recipient) external payable {
        emit Deposited(deposits++, recipient, msg.value);
    }
}
