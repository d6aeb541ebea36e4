// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Base} from "./Base.sol";
import {Cuts, FacetCut} from "./Cuts.sol";
import {Storage} from "./Storage.sol";

/// @title AccountConfig
/// @notice Accounts, keys, groups, actions, wallets and permissions of the service. This contract only stores the state
/// and delegates each call to the facet that implements the function (EIP-2535).
contract Diamond is Base {
    /// @param owner_ Address that may upgrade and configure the contract.
    /// @param cuts Initial functions.
    constructor(address owner_, FacetCut[] memory cuts) {
        Storage.Layout storage state = Storage.layout();
        state.owner = owner_;
        state.configOperator = owner_;
        state.pricingOperator = owner_;
        state.requestedPayerCount = 3;
        state.pricing[1] = 1;
        state.interfaces[0x01ffc9a7] = true; // ERC-165
        state.interfaces[0x1f931c1c] = true; // EIP-2535 cut
        state.interfaces[0x48e2b093] = true; // EIP-2535 loupe
        state.interfaces[0x7f5828d0] = true; // ERC-173
        Cuts.apply_(cuts, address(0), "");
    }

    receive() external payable {
        revert DirectETHTransferNotAllowed();
    }

    fallback() external payable {
        if (msg.value != 0) revert DirectETHTransferNotAllowed();
        address facet = Storage.layout().routes[msg.sig].facet;
        if (facet == address(0)) revert FunctionNotFound(msg.sig);
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), facet, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if done { return(0, returndatasize()) }
            revert(0, returndatasize())
        }
    }
}
