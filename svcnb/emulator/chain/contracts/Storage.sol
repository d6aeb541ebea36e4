// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Sets} from "./Sets.sol";

/// @title Everything the contract remembers, at one slot of its own
/// @notice All facets run in the diamond's storage and reach it through `Storage.layout()` (ERC-7201).
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

    /// @notice What one revision of a group permits.
    /// @param cids Hashed CIDs, 0 for any.
    /// @param cidGeneration Generation of the action when it was added. Removing an action raises its generation, which
    /// takes it out of every group at once, however many there are.
    /// @param pkps Wallet addresses as numbers, 0 for any.
    struct Members {
        Sets.UintSet cids;
        mapping(uint256 => uint256) cidGeneration;
        Sets.UintSet pkps;
    }

    /// @param revision Raised by a full replacement, which so costs the same however large the group has become.
    struct Group {
        Text text;
        uint256 revision;
        mapping(uint256 => Members) members;
    }

    /// @param serial Place in the account's order of registration, from 0; never reused.
    struct Wallet {
        Text text;
        uint256 serial;
        uint256 path;
    }

    struct Account {
        bool managed;
        address admin;
        /// The identity that pays: the first admin, whoever owns the account later.
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
        // accounts: every known hash (master, usage key, admin alias) leads to its master hash
        mapping(uint256 => uint256) masterOf;
        mapping(uint256 => Account) accounts;
        uint256 accountCount;
        mapping(uint256 => uint256) accountAt;
        /// The first account that a wallet was admin of.
        mapping(address => uint256) adminOf;
        // wallets: bound for ever to the account that registered them first
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
