// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @notice A minimal token for tests. In production, use an existing token.
contract Token {
    mapping(address => uint256) public balanceOf;

    constructor(uint256 supply) {
        balanceOf[msg.sender] = supply;
    }

    /// @notice Transfers the caller's tokens.
    function transfer(address to, uint256 amount) external returns (bool) {
        balanceOf[msg.sender] -= amount;
        balanceOf[to] += amount;
        return true;
    }
}
