// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Errors} from "./Base.sol";
import {Storage} from "./Storage.sol";

/// @notice Operation of a cut.
enum FacetCutAction {
    Add,
    Replace,
    Remove
}

/// @param facetAddress Facet that implements the functions, or the zero address to remove them.
/// @param action Operation.
/// @param functionSelectors Selectors of the functions.
struct FacetCut {
    address facetAddress;
    FacetCutAction action;
    bytes4[] functionSelectors;
}

/// @title Adds, replaces and removes functions of the diamond
library Cuts {
    event DiamondCut(FacetCut[] _diamondCut, address _init, bytes _calldata);

    /// @param cuts Changes, applied in order.
    /// @param init Contract to call afterwards in the diamond's storage, or the zero address.
    /// @param data Call data for that contract.
    function apply_(FacetCut[] memory cuts, address init, bytes memory data) internal {
        for (uint256 i = 0; i < cuts.length; ++i) {
            FacetCut memory cut = cuts[i];
            bool removes = cut.action == FacetCutAction.Remove;
            if (removes != (cut.facetAddress == address(0))) {
                revert Errors.InvalidRequest("a removal names the zero address, anything else a facet");
            }
            if (!removes && cut.facetAddress.code.length == 0) {
                revert Errors.InvalidRequest("the facet has no code");
            }
            for (uint256 j = 0; j < cut.functionSelectors.length; ++j) {
                _route(cut.functionSelectors[j], cut.facetAddress, cut.action);
            }
        }
        emit DiamondCut(cuts, init, data);
        if (init != address(0)) _run(init, data);
    }

    function _route(bytes4 selector, address facet, FacetCutAction action) private {
        Storage.Layout storage state = Storage.layout();
        Storage.Route storage route = state.routes[selector];
        if ((route.facet == address(0)) != (action == FacetCutAction.Add)) {
            if (action == FacetCutAction.Add) revert Errors.InvalidRequest("the function exists already");
            revert Errors.FunctionNotFound(selector);
        }
        if (action == FacetCutAction.Add) {
            state.routes[selector] = Storage.Route(facet, uint96(state.selectors.length));
            state.selectors.push(selector);
        } else if (action == FacetCutAction.Replace) {
            route.facet = facet;
        } else {
            bytes4 last = state.selectors[state.selectors.length - 1];
            state.selectors[route.place] = last;
            state.routes[last].place = route.place;
            state.selectors.pop();
            delete state.routes[selector];
        }
    }

    function _run(address init, bytes memory data) private {
        if (init.code.length == 0) revert Errors.InvalidRequest("the initialiser has no code");
        (bool done, bytes memory answer) = init.delegatecall(data);
        if (done) return;
        if (answer.length == 0) revert Errors.InvalidRequest("the initialiser failed without a reason");
        assembly {
            revert(add(answer, 32), mload(answer))
        }
    }
}
