// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Base} from "../Base.sol";
import {Sets} from "../Sets.sol";
import {Storage} from "../Storage.sol";

/// @title Paginated lists of an account's content
/// @notice The functions accept any hash of the account. Page numbers start at 0. If the page size exceeds the total,
/// each page contains all entries. A page after the last one is empty.
contract ListsFacet is Base {
    using Sets for Sets.UintSet;

    struct Metadata {
        uint256 id;
        string name;
        string description;
    }

    struct ApiKey {
        Metadata metadata;
        uint256 apiKeyHash;
        uint256 expiration;
        uint256 balance;
        uint256[] executeInGroups;
        bool createGroups;
        bool deleteGroups;
        bool createPKPs;
        uint256[] manageIPFSIdsInGroups;
        uint256[] addPkpToGroups;
        uint256[] removePkpFromGroups;
    }

    /// @param id Position in the account's order of registration, counted from 0. Also 0 for an unregistered wallet.
    struct Pkp {
        uint256 id;
        address pkpId;
        string name;
        string description;
    }

    // --- one account

    /// @notice Returns whether the account exists and the sender may write to it.
    function accountExistsAndIsMutable(uint256 apiKeyHash) external view returns (bool) {
        uint256 masterHash = Storage.layout().masterOf[apiKeyHash];
        return masterHash != 0 && _senderActsFor(Storage.layout().accounts[masterHash]);
    }

    function getAccountWalletAddress(uint256 apiKeyHash) external view returns (address) {
        (Storage.Account storage account,) = _account(apiKeyHash);
        return account.admin;
    }

    /// @notice Returns the wallet that pays for the account: its first admin wallet, even after a change of ownership.
    function getBillingWalletAddress(uint256 apiKeyHash) external view returns (address) {
        (Storage.Account storage account,) = _account(apiKeyHash);
        return account.billing;
    }

    /// @notice Returns the data that a server needs to resolve a hash. All values are zero if the hash is unknown.
    /// @return masterHash Master hash of the account.
    /// @return admin Wallet that owns the account.
    /// @return billingWallet Wallet that pays for the account.
    /// @return managed Whether the service may write for the account.
    /// @return isMaster Whether the hash is the master hash.
    /// @return isAdminAlias Whether the hash belongs to a current or former admin wallet.
    /// @return expiration Expiration of a usage key in Unix seconds. 0 means never.
    function resolveApiKeyHash(uint256 apiKeyHash)
        external
        view
        returns (
            uint256 masterHash,
            address admin,
            address billingWallet,
            bool managed,
            bool isMaster,
            bool isAdminAlias,
            uint256 expiration
        )
    {
        masterHash = Storage.layout().masterOf[apiKeyHash];
        if (masterHash == 0) return (0, address(0), address(0), false, false, false, 0);
        Storage.Account storage account = Storage.layout().accounts[masterHash];
        admin = account.admin;
        billingWallet = account.billing;
        managed = account.managed;
        isMaster = apiKeyHash == masterHash;
        isAdminAlias = !isMaster && !_isUsageKey(account, apiKeyHash);
        expiration = account.usageKey[apiKeyHash].expiration;
    }

    // --- lists

    function listApiKeys(uint256 apiKeyHash, uint256 pageNumber, uint256 pageSize)
        external
        view
        returns (ApiKey[] memory page)
    {
        (Storage.Account storage account,) = _account(apiKeyHash);
        (uint256 start, uint256 count) = _page(account.usageKeys.items.length, pageNumber, pageSize);
        page = new ApiKey[](count);
        for (uint256 i = 0; i < count; ++i) {
            uint256 hash = account.usageKeys.items[start + i];
            Storage.UsageKey storage key = account.usageKey[hash];
            page[i].metadata = _metadata(hash, key.text);
            page[i].apiKeyHash = hash;
            page[i].expiration = key.expiration;
            page[i].balance = key.balance;
            page[i].executeInGroups = key.executeInGroups;
            page[i].createGroups = key.createGroups;
            page[i].deleteGroups = key.deleteGroups;
            page[i].createPKPs = key.createPKPs;
            page[i].manageIPFSIdsInGroups = key.manageIPFSIdsInGroups;
            page[i].addPkpToGroups = key.addPkpToGroups;
            page[i].removePkpFromGroups = key.removePkpFromGroups;
        }
    }

    function listGroups(uint256 apiKeyHash, uint256 pageNumber, uint256 pageSize)
        external
        view
        returns (Metadata[] memory page)
    {
        (Storage.Account storage account,) = _account(apiKeyHash);
        (uint256 start, uint256 count) = _page(account.groups.items.length, pageNumber, pageSize);
        page = new Metadata[](count);
        for (uint256 i = 0; i < count; ++i) {
            uint256 id = account.groups.items[start + i];
            page[i] = _metadata(id, account.group[id].text);
        }
    }

    /// @notice Returns the registered actions. The id is the hashed CID.
    function listActions(uint256 apiKeyHash, uint256 pageNumber, uint256 pageSize)
        external
        view
        returns (Metadata[] memory page)
    {
        (Storage.Account storage account,) = _account(apiKeyHash);
        (uint256 start, uint256 count) = _page(account.actions.items.length, pageNumber, pageSize);
        page = new Metadata[](count);
        for (uint256 i = 0; i < count; ++i) {
            uint256 hash = account.actions.items[start + i];
            page[i] = _metadata(hash, account.action[hash]);
        }
    }

    /// @notice Returns the actions that a group permits. Texts are empty for unregistered actions and the wildcard 0.
    function listActionsInGroup(uint256 apiKeyHash, uint256 groupId, uint256 pageNumber, uint256 pageSize)
        external
        view
        returns (Metadata[] memory page)
    {
        (Storage.Account storage account,) = _account(apiKeyHash);
        uint256[] memory cids = _cids(account, _members(_group(account, apiKeyHash, groupId)));
        (uint256 start, uint256 count) = _page(cids.length, pageNumber, pageSize);
        page = new Metadata[](count);
        for (uint256 i = 0; i < count; ++i) {
            page[i] = _metadata(cids[start + i], account.action[cids[start + i]]);
        }
    }

    /// @notice Returns the registered wallets.
    function listPkps(uint256 apiKeyHash, uint256 pageNumber, uint256 pageSize)
        external
        view
        returns (Pkp[] memory page)
    {
        (Storage.Account storage account,) = _account(apiKeyHash);
        return _pkps(account, account.wallets, pageNumber, pageSize);
    }

    /// @notice Returns the wallets that a group permits. Texts are empty for unregistered wallets and for the wildcard.
    function listWalletsInGroup(uint256 apiKeyHash, uint256 groupId, uint256 pageNumber, uint256 pageSize)
        external
        view
        returns (Pkp[] memory page)
    {
        (Storage.Account storage account,) = _account(apiKeyHash);
        return _pkps(account, _members(_group(account, apiKeyHash, groupId)).pkps, pageNumber, pageSize);
    }

    /// @notice Returns a group with all its members.
    function listGroupContents(uint256 apiKeyHash, uint256 groupId)
        external
        view
        returns (Metadata memory metadata, uint256[] memory cidHash, address[] memory pkpId)
    {
        (Storage.Account storage account,) = _account(apiKeyHash);
        Storage.Group storage group = _group(account, apiKeyHash, groupId);
        metadata = _metadata(groupId, group.text);
        cidHash = _cids(account, _members(group));
        uint256[] storage pkps = _members(group).pkps.items;
        pkpId = new address[](pkps.length);
        for (uint256 i = 0; i < pkps.length; ++i) pkpId[i] = address(uint160(pkps[i]));
    }

    // --- wallets and ledgers

    /// @notice Returns the derivation path of a wallet of this account, or 0 if it is not registered.
    function getWalletDerivation(uint256 apiKeyHash, address pkpId) external view returns (uint256) {
        (Storage.Account storage account, uint256 masterHash) = _account(apiKeyHash);
        uint256 boundTo = Storage.layout().pkpOwner[pkpId];
        if (boundTo != 0 && boundTo != masterHash) revert InvalidRequest("the wallet is owned by another account");
        return account.wallet[pkpId].path;
    }

    /// @notice Returns the account to which a wallet is bound, or 0 if the wallet was never registered.
    function getPkpOwnerMaster(address pkpId) external view returns (uint256) {
        return Storage.layout().pkpOwner[pkpId];
    }

    /// @notice Returns the account to which a derivation path is bound, or 0 if the path was never registered.
    function getPathOwnerMaster(uint256 derivationPath) external view returns (uint256) {
        return Storage.layout().pathOwner[derivationPath];
    }

    function accountCount() external view returns (uint256) {
        return Storage.layout().accountCount;
    }

    /// @param index Index, counted from 1.
    function indexToAccountHashAt(uint256 index) external view returns (uint256) {
        return Storage.layout().accountAt[index];
    }

    /// @notice Returns the number of different wallets that accounts have registered.
    function pkpCount() external view returns (uint256) {
        return Storage.layout().pkps.length;
    }

    /// @param index Index, counted from 1.
    function allPkpIdsAt(uint256 index) external view returns (address) {
        address[] storage pkps = Storage.layout().pkps;
        return index == 0 || index > pkps.length ? address(0) : pkps[index - 1];
    }

    // --- helpers

    function _page(uint256 total, uint256 pageNumber, uint256 pageSize)
        private
        pure
        returns (uint256 start, uint256 count)
    {
        if (pageSize > total) return (0, total);
        if (pageSize == 0 || pageNumber > total / pageSize) return (0, 0);
        start = pageNumber * pageSize;
        count = total - start < pageSize ? total - start : pageSize;
    }

    function _metadata(uint256 id, Storage.Text storage text) private view returns (Metadata memory) {
        return Metadata(id, text.name, text.description);
    }

    function _cids(Storage.Account storage account, Storage.Members storage members)
        private
        view
        returns (uint256[] memory found)
    {
        uint256 total = members.cids.items.length;
        found = new uint256[](total);
        uint256 count;
        for (uint256 i = 0; i < total; ++i) {
            uint256 hash = members.cids.items[i];
            if (_lists(account, members, hash)) found[count++] = hash;
        }
        assembly {
            mstore(found, count)
        }
    }

    function _pkps(Storage.Account storage account, Sets.UintSet storage set, uint256 pageNumber, uint256 pageSize)
        private
        view
        returns (Pkp[] memory page)
    {
        (uint256 start, uint256 count) = _page(set.items.length, pageNumber, pageSize);
        page = new Pkp[](count);
        for (uint256 i = 0; i < count; ++i) {
            address pkpId = address(uint160(set.items[start + i]));
            Storage.Wallet storage wallet = account.wallet[pkpId];
            page[i] = Pkp(wallet.serial, pkpId, wallet.text.name, wallet.text.description);
        }
    }
}
