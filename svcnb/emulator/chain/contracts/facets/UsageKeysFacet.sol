// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Base} from "../Base.sol";
import {Sets} from "../Sets.sol";
import {Storage} from "../Storage.sol";

/// @title Usage keys
/// @dev Compiled with the IR pipeline, because setUsageApiKey has too many parameters for the legacy code generator.
contract UsageKeysFacet is Base {
    using Sets for Sets.UintSet;

    event UsageApiKeySet(uint256 indexed accountApiKeyHash, uint256 indexed usageApiKeyHash);
    event UsageApiKeyRemoved(uint256 indexed accountApiKeyHash, uint256 indexed usageApiKeyHash);

    /// @notice Creates a usage key, or replaces an existing one completely.
    /// @param accountApiKeyHash Master hash or admin alias.
    /// @param usageApiKeyHash Hash of the usage key.
    /// @param expiration Expiration in Unix seconds. 0 means never.
    /// @param balance Stored, but not used.
    /// @param name Display name.
    /// @param description Description for display.
    /// @param createGroups Whether the key may create groups.
    /// @param deleteGroups Whether the key may delete groups.
    /// @param createPKPs Whether the key may register wallets.
    /// @param manageIPFSIdsInGroups Groups whose actions the key may change. 0 means all.
    /// @param addPkpToGroups Groups to which the key may add wallets. 0 means all.
    /// @param removePkpFromGroups Groups from which the key may remove wallets. 0 means all.
    /// @param executeInGroups Groups whose actions the key may run. 0 means any action.
    function setUsageApiKey(
        uint256 accountApiKeyHash,
        uint256 usageApiKeyHash,
        uint256 expiration,
        uint256 balance,
        string calldata name,
        string calldata description,
        bool createGroups,
        bool deleteGroups,
        bool createPKPs,
        uint256[] calldata manageIPFSIdsInGroups,
        uint256[] calldata addPkpToGroups,
        uint256[] calldata removePkpFromGroups,
        uint256[] calldata executeInGroups
    ) external {
        _requireKeyWriter(accountApiKeyHash, usageApiKeyHash);
        _requireShort(manageIPFSIdsInGroups);
        _requireShort(addPkpToGroups);
        _requireShort(removePkpFromGroups);
        _requireShort(executeInGroups);
        Storage.UsageKey storage key = _claim(accountApiKeyHash, usageApiKeyHash);
        key.text = Storage.Text(name, description);
        key.expiration = expiration;
        key.balance = balance;
        key.createGroups = createGroups;
        key.deleteGroups = deleteGroups;
        key.createPKPs = createPKPs;
        key.manageIPFSIdsInGroups = manageIPFSIdsInGroups;
        key.addPkpToGroups = addPkpToGroups;
        key.removePkpFromGroups = removePkpFromGroups;
        key.executeInGroups = executeInGroups;
    }

    function _requireKeyWriter(uint256 accountApiKeyHash, uint256 usageApiKeyHash) private view {
        (Storage.Account storage account,) = _writable(accountApiKeyHash);
        _onlyMaster(account, accountApiKeyHash);
        if (usageApiKeyHash == 0) revert InvalidRequest("usage key hash 0 names no key");
    }

    function _requireShort(uint256[] calldata groups) private pure {
        if (groups.length > MAX_KEY_GROUPS) revert InvalidRequest("a permission list holds at most 50 groups");
    }

    /// @notice Returns the record of a new or existing usage key of this account. Reverts if the hash has another use.
    function _claim(uint256 accountApiKeyHash, uint256 usageApiKeyHash) private returns (Storage.UsageKey storage) {
        Storage.Layout storage state = Storage.layout();
        (Storage.Account storage account, uint256 masterHash) = _account(accountApiKeyHash);
        if (account.usageKeys.add(usageApiKeyHash)) {
            if (state.masterOf[usageApiKeyHash] != 0) revert AccountAlreadyExists(usageApiKeyHash);
            state.masterOf[usageApiKeyHash] = masterHash;
        }
        emit UsageApiKeySet(masterHash, usageApiKeyHash);
        return account.usageKey[usageApiKeyHash];
    }

    /// @notice Changes the name and description of a usage key. Its permissions remain unchanged.
    function updateUsageApiKeyMetadata(
        uint256 accountApiKeyHash,
        uint256 usageApiKeyHash,
        string calldata name,
        string calldata description
    ) external {
        (Storage.Account storage account,) = _ownKey(accountApiKeyHash, usageApiKeyHash);
        account.usageKey[usageApiKeyHash].text = Storage.Text(name, description);
    }

    /// @notice Removes a usage key. Afterwards, its hash identifies no account.
    function removeUsageApiKey(uint256 accountApiKeyHash, uint256 usageApiKeyHash) external {
        (Storage.Account storage account, uint256 masterHash) = _ownKey(accountApiKeyHash, usageApiKeyHash);
        account.usageKeys.remove(usageApiKeyHash);
        delete account.usageKey[usageApiKeyHash];
        delete Storage.layout().masterOf[usageApiKeyHash];
        emit UsageApiKeyRemoved(masterHash, usageApiKeyHash);
    }

    function _ownKey(uint256 accountApiKeyHash, uint256 usageApiKeyHash)
        private
        view
        returns (Storage.Account storage account, uint256 masterHash)
    {
        (account, masterHash) = _writable(accountApiKeyHash);
        if (!_isUsageKey(account, usageApiKeyHash)) revert UsageApiKeyDoesNotExist(accountApiKeyHash, usageApiKeyHash);
        _onlyMaster(account, accountApiKeyHash);
    }
}
