// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Sets} from "./Sets.sol";

/// @title Whole state of the contract, in its own storage namespace (ERC-7201)
/// @notice All facets run in the diamond's storage and access it through `Storage.layout()`.
library Storage {
    /// @dev keccak256(abi.encode(uint256(keccak256("svcnb.account.config")) - 1)) & ~bytes32(uint256(0xff))
    bytes32 private constant SLOT = 0x90e2ad7a8584ba4c580c0e2b1bc57d86f959473435a56470dd3b770f9027ba00;

    struct Text {
        string name;
        string description;
    }

    struct UsageKey {
        Text text;
        uint256 expiration;
        uint256 balance;
        bool createGroups;
        bool deleteGroups;
        bool createPKPs;
        uint256[] manageIPFSIdsInGroups;
        uint256[] addPkpToGroups;
        uint256[] removePkpFromGroups;
        uint256[] executeInGroups;
    }

    /// @notice Permissions of one revision of a group.
    /// @param cids Hashed CIDs. 0 permits any action.
    /// @param cidGeneration Generation of the action when it was added. The removal of an action increments its
    /// generation, which removes it from all groups at constant cost.
    /// @param pkps Wallet addresses as numbers. 0 permits any wallet.
    struct Members {
        Sets.UintSet cids;
        mapping(uint256 => uint256) cidGeneration;
        Sets.UintSet pkps;
    }

    /// @param revision Number of the current members. A full replacement increments it, at constant cost.
    struct Group {
        Text text;
        uint256 revision;
        mapping(uint256 => Members) members;
    }

    /// @param serial Position in the account's order of registration, counted from 0. The contract never reuses it.
    struct Wallet {
        Text text;
        uint256 serial;
        uint256 path;
    }

    struct Account {
        bool managed;
        address admin;
        /// Wallet that pays: the first admin wallet, even after a change of ownership.
        address billing;
        Text text;
        uint256 expiration;
        uint256 balance;
        uint256 groupsEver;
        uint256 walletsEver;
        Sets.UintSet usageKeys;
        mapping(uint256 => UsageKey) usageKey;
        Sets.UintSet groups;
        mapping(uint256 => Group) group;
        Sets.UintSet actions;
        mapping(uint256 => Text) action;
        mapping(uint256 => uint256) actionGeneration;
        Sets.UintSet wallets;
        mapping(address => Wallet) wallet;
    }

    struct Route {
        address facet;
        uint96 place;
    }

    struct Layout {
        // the diamond
        address owner;
        bytes4[] selectors;
        mapping(bytes4 => Route) routes;
        mapping(bytes4 => bool) interfaces;
        // accounts: each known hash (master, usage key, admin alias) maps to its master hash
        mapping(uint256 => uint256) masterOf;
        mapping(uint256 => Account) accounts;
        uint256 accountCount;
        mapping(uint256 => uint256) accountAt;
        /// First account of which a wallet was the admin.
        mapping(address => uint256) adminOf;
        // wallets: permanently bound to the account that first registered them
        address[] pkps;
        mapping(address => uint256) pkpOwner;
        mapping(uint256 => uint256) pathOwner;
        // service
        address[] payers;
        mapping(address => bool) isPayer;
        address adminPayer;
        uint256 requestedPayerCount;
        uint256 rebalanceAmount;
        address configOperator;
        address pricingOperator;
        mapping(uint256 => uint256) pricing;
        string[] nodeKeys;
        mapping(string => bool) nodeKeyKnown;
        mapping(string => string) nodeValue;
    }

    function layout() internal pure returns (Layout storage state) {
        bytes32 slot = SLOT;
        assembly {
            state.slot := slot
        }
    }
}
