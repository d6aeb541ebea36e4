// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Base} from "../Base.sol";
import {Sets} from "../Sets.sol";
import {Storage} from "../Storage.sol";

/// @title Permission checks: whether a key may run an action, and whether the action may use a wallet
/// @notice The account itself (master hash or admin alias) has all permissions. A usage key may run the actions that a
/// group in its executeInGroups permits, and use the wallets that the same group permits. With 0 in executeInGroups, it
/// may run any action. Except under the strict rule, it may then also use any wallet of the account. A wallet must
/// always be registered in the account.
contract PermissionsFacet is Base {
    using Sets for Sets.UintSet;

    /// @param masterHash Master hash of the account. 0 if the hash is unknown; all other members are then zero.
    /// @param isUsageKey Whether the hash belongs to a usage key.
    /// @param isExpired Whether the usage key has expired. The members below ignore the expiration.
    /// @param executesAction Whether the action may run.
    /// @param walletIsRegistered Whether the wallet belongs to the account.
    /// @param usesWallet Whether the action may use the wallet.
    /// @param usesWalletStrictly Result under the strict rule: even with 0 in executeInGroups, one group must permit
    /// both the action and the wallet.
    struct Decision {
        uint256 masterHash;
        bool isUsageKey;
        bool isExpired;
        bool executesAction;
        bool walletIsRegistered;
        bool usesWallet;
        bool usesWalletStrictly;
    }

    function canExecuteAction(uint256 apiKeyHash, uint256 cidHash) external view returns (bool) {
        return _mayExecute(apiKeyHash, cidHash);
    }

    /// @notice Same as canExecuteAction.
    function canExecuteActionFast(uint256 apiKeyHash, uint256 cidHash) external view returns (bool) {
        return _mayExecute(apiKeyHash, cidHash);
    }

    function canUseWalletInAction(uint256 apiKeyHash, uint256 cidHash, address pkpId) external view returns (bool) {
        return _mayUse(apiKeyHash, cidHash, pkpId, false);
    }

    /// @notice Same as canUseWalletInAction.
    function canUseWalletInActionFast(uint256 apiKeyHash, uint256 cidHash, address pkpId) external view returns (bool) {
        return _mayUse(apiKeyHash, cidHash, pkpId, false);
    }

    /// @notice Same as canUseWalletInAction under the strict rule: even with 0 in executeInGroups, one group must
    /// permit both the action and the wallet.
    function canUseWalletInActionStrict(uint256 apiKeyHash, uint256 cidHash, address pkpId)
        external
        view
        returns (bool)
    {
        return _mayUse(apiKeyHash, cidHash, pkpId, true);
    }

    function canExecuteActionAndUseWallet(uint256 apiKeyHash, uint256 cidHash, address pkpId)
        external
        view
        returns (bool canExecute, bool canUseWallet)
    {
        return (_mayExecute(apiKeyHash, cidHash), _mayUse(apiKeyHash, cidHash, pkpId, false));
    }

    /// @notice Returns all parts of a permission check in one call. Never reverts.
    function checkPermission(uint256 apiKeyHash, uint256 cidHash, address pkpId)
        external
        view
        returns (Decision memory decision)
    {
        decision.masterHash = Storage.layout().masterOf[apiKeyHash];
        if (decision.masterHash == 0) return decision;
        Storage.Account storage account = Storage.layout().accounts[decision.masterHash];
        decision.isUsageKey = _isUsageKey(account, apiKeyHash);
        decision.isExpired = decision.isUsageKey && _isExpired(account.usageKey[apiKeyHash]);
        decision.executesAction = _executes(account, apiKeyHash, cidHash);
        decision.walletIsRegistered = account.wallets.contains(uint160(pkpId));
        decision.usesWallet = _uses(account, apiKeyHash, cidHash, pkpId, false);
        decision.usesWalletStrictly = _uses(account, apiKeyHash, cidHash, pkpId, true);
    }

    /// @notice Returns whether the key may run actions in at least one of the groups.
    function apiKeyCanExecuteForAnyGroup(uint256 apiKeyHash, uint256[] calldata groupIds) external view returns (bool) {
        (Storage.Account storage account,) = _account(apiKeyHash);
        if (!_isUsageKey(account, apiKeyHash)) return true;
        Storage.UsageKey storage key = account.usageKey[apiKeyHash];
        if (_isExpired(key)) return false;
        if (_isWildcard(key.executeInGroups)) return true;
        for (uint256 i = 0; i < groupIds.length; ++i) {
            if (account.groups.contains(groupIds[i]) && _names(key.executeInGroups, groupIds[i])) return true;
        }
        return false;
    }

    /// @notice Returns the groups of the account that permit the action, by its hash or by the wildcard 0.
    function groupIdsForAction(uint256 apiKeyHash, uint256 cidHash) external view returns (uint256[] memory) {
        (Storage.Account storage account,) = _account(apiKeyHash);
        return _groupIds(account, cidHash, address(0), false);
    }

    /// @notice Returns the groups of the account that permit both the action and the wallet.
    function groupIdsForActionAndWallet(uint256 apiKeyHash, uint256 cidHash, address pkpId)
        external
        view
        returns (uint256[] memory)
    {
        (Storage.Account storage account,) = _account(apiKeyHash);
        return _groupIds(account, cidHash, pkpId, true);
    }

    // --- rules

    function _mayExecute(uint256 apiKeyHash, uint256 cidHash) private view returns (bool) {
        (Storage.Account storage account,) = _account(apiKeyHash);
        return !_isDead(account, apiKeyHash) && _executes(account, apiKeyHash, cidHash);
    }

    function _mayUse(uint256 apiKeyHash, uint256 cidHash, address pkpId, bool strict) private view returns (bool) {
        (Storage.Account storage account,) = _account(apiKeyHash);
        return !_isDead(account, apiKeyHash) && _uses(account, apiKeyHash, cidHash, pkpId, strict);
    }

    function _isDead(Storage.Account storage account, uint256 apiKeyHash) private view returns (bool) {
        return _isUsageKey(account, apiKeyHash) && _isExpired(account.usageKey[apiKeyHash]);
    }

    function _executes(Storage.Account storage account, uint256 apiKeyHash, uint256 cidHash)
        private
        view
        returns (bool)
    {
        if (!_isUsageKey(account, apiKeyHash)) return true;
        uint256[] storage groups = account.usageKey[apiKeyHash].executeInGroups;
        if (_isWildcard(groups)) return true;
        for (uint256 i = 0; i < groups.length; ++i) {
            if (
                account.groups.contains(groups[i])
                    && _permitsAction(account, _members(account.group[groups[i]]), cidHash)
            ) return true;
        }
        return false;
    }

    function _uses(Storage.Account storage account, uint256 apiKeyHash, uint256 cidHash, address pkpId, bool strict)
        private
        view
        returns (bool)
    {
        if (!account.wallets.contains(uint160(pkpId))) return false;
        if (!_isUsageKey(account, apiKeyHash)) return true;
        uint256[] storage groups = account.usageKey[apiKeyHash].executeInGroups;
        if (_isWildcard(groups)) {
            if (!strict) return true;
            groups = account.groups.items;
        }
        for (uint256 i = 0; i < groups.length; ++i) {
            if (account.groups.contains(groups[i]) && _permitsBoth(account, groups[i], cidHash, pkpId)) return true;
        }
        return false;
    }

    function _permitsBoth(Storage.Account storage account, uint256 groupId, uint256 cidHash, address pkpId)
        private
        view
        returns (bool)
    {
        Storage.Members storage members = _members(account.group[groupId]);
        return _permitsAction(account, members, cidHash) && _permitsWallet(members, pkpId);
    }

    function _groupIds(Storage.Account storage account, uint256 cidHash, address pkpId, bool withWallet)
        private
        view
        returns (uint256[] memory found)
    {
        uint256 total = account.groups.items.length;
        found = new uint256[](total);
        uint256 count;
        for (uint256 i = 0; i < total; ++i) {
            uint256 id = account.groups.items[i];
            Storage.Members storage members = _members(account.group[id]);
            if (_permitsAction(account, members, cidHash) && (!withWallet || _permitsWallet(members, pkpId))) {
                found[count++] = id;
            }
        }
        assembly {
            mstore(found, count)
        }
    }
}
