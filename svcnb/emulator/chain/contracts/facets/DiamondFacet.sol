// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Base} from "../Base.sol";
import {Cuts, FacetCut} from "../Cuts.sol";
import {Storage} from "../Storage.sol";

/// @title Standard functions of a diamond: cut and loupe (EIP-2535), ownership (ERC-173) and interfaces (ERC-165)
contract DiamondFacet is Base {
    struct Facet {
        address facetAddress;
        bytes4[] functionSelectors;
    }

    event OwnershipTransferred(address indexed previousOwner, address indexed newOwner);

    /// @notice Changes the contract's functions. Only the owner may call this.
    function diamondCut(FacetCut[] calldata _diamondCut, address _init, bytes calldata _calldata) external {
        _onlyContractOwner();
        Cuts.apply_(_diamondCut, _init, _calldata);
    }

    function owner() external view returns (address) {
        return Storage.layout().owner;
    }

    /// @notice Transfers the ownership of the contract. Only the owner may call this. The zero address renounces the
    /// ownership permanently.
    function transferOwnership(address _newOwner) external {
        _onlyContractOwner();
        emit OwnershipTransferred(msg.sender, _newOwner);
        Storage.layout().owner = _newOwner;
    }

    function supportsInterface(bytes4 _interfaceId) external view returns (bool) {
        return Storage.layout().interfaces[_interfaceId];
    }

    function facetAddress(bytes4 _functionSelector) external view returns (address) {
        return Storage.layout().routes[_functionSelector].facet;
    }

    function facetAddresses() public view returns (address[] memory found) {
        Storage.Layout storage state = Storage.layout();
        found = new address[](state.selectors.length);
        uint256 count;
        for (uint256 i = 0; i < state.selectors.length; ++i) {
            address facet = state.routes[state.selectors[i]].facet;
            uint256 j;
            while (j < count && found[j] != facet) ++j;
            if (j == count) found[count++] = facet;
        }
        assembly {
            mstore(found, count)
        }
    }

    function facetFunctionSelectors(address _facet) public view returns (bytes4[] memory found) {
        Storage.Layout storage state = Storage.layout();
        found = new bytes4[](state.selectors.length);
        uint256 count;
        for (uint256 i = 0; i < state.selectors.length; ++i) {
            if (state.routes[state.selectors[i]].facet == _facet) found[count++] = state.selectors[i];
        }
        assembly {
            mstore(found, count)
        }
    }

    function facets() external view returns (Facet[] memory all) {
        address[] memory addresses = facetAddresses();
        all = new Facet[](addresses.length);
        for (uint256 i = 0; i < addresses.length; ++i) {
            all[i] = Facet(addresses[i], facetFunctionSelectors(addresses[i]));
        }
    }
}
