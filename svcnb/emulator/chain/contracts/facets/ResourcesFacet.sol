// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Base} from "../Base.sol";
import {Sets} from "../Sets.sol";
import {Storage} from "../Storage.sol";

/// @title Resources of an account: groups, actions and wallets
/// @notice The cost of a write does not grow with the size of an account, so an owner can always change the account.
contract ResourcesFacet is Base {
    using Sets for Sets.UintSet;

    event GroupAdded(uint256 indexed apiKeyHash, uint256 indexed groupId);
    event GroupUpdated(uint256 indexed accountApiKeyHash, uint256 indexed groupId);
    event GroupRemoved(uint256 indexed apiKeyHash, uint256 indexed groupId);
    event ActionAdded(uint256 indexed accountApiKeyHash, uint256 indexed actionHash);
    event ActionRemoved(uint256 indexed accountApiKeyHash, uint256 indexed actionHash);
    event ActionAddedToGroup(uint256 indexed apiKeyHash, uint256 indexed groupId, uint256 action);
    event ActionRemovedFromGroup(uint256 indexed apiKeyHash, uint256 indexed groupId, uint256 action);
    event PkpAddedToGroup(uint256 indexed apiKeyHash, uint256 indexed groupId, address pkpId);
    event PkpRemovedFromGroup(uint256 indexed apiKeyHash, uint256 indexed groupId, address pkpId);
    event WalletDerivationRegistered(uint256 indexed apiKeyHash, address indexed pkpId, uint256 derivationPath);
    event WalletDerivationRemoved(uint256 indexed apiKeyHash, address indexed pkpId);

    // --- groups

    /// @notice Creates a group. Emits no separate events for the initial members.
    /// @param apiKeyHash Master hash, or hash of a usage key that may create groups.
    /// @param cidHashes At most 10 hashed CIDs. 0 permits any action.
    /// @param pkpIds At most 10 wallet addresses. The zero address permits any wallet.
    /// @return groupId Id of the group, counted from 1 within the account. The contract never reuses it.
    function addGroup(
        uint256 apiKeyHash,
        string calldata name,
        string calldata description,
        uint256[] calldata cidHashes,
        address[] calldata pkpIds
    ) external returns (uint256 groupId) {
        (Storage.Account storage account, uint256 masterHash) = _writable(apiKeyHash);
        (bool limited, Storage.UsageKey storage key) = _limited(account, apiKeyHash);
        if (limited && !key.createGroups) revert NotAllowedToCreateGroup(apiKeyHash);
        _fits(cidHashes, pkpIds);
        groupId = ++account.groupsEver;
        account.groups.add(groupId);
        Storage.Group storage group = account.group[groupId];
        group.text = Storage.Text(name, description);
        _fill(account, group, cidHashes, pkpIds);
        emit GroupAdded(masterHash, groupId);
    }

    /// @notice Replaces the name, description and members of a group.
    function updateGroup(
        uint256 accountApiKeyHash,
        uint256 groupId,
        string calldata name,
        string calldata description,
        uint256[] calldata cidHashes,
        address[] calldata pkpIds
    ) external {
        (Storage.Account storage account, uint256 masterHash, Storage.Group storage group) =
            _ownGroup(accountApiKeyHash, groupId);
        _fits(cidHashes, pkpIds);
        group.text = Storage.Text(name, description);
        ++group.revision;
        _fill(account, group, cidHashes, pkpIds);
        emit GroupUpdated(masterHash, groupId);
    }

    /// @notice Changes the name and description of a group. Its members remain unchanged.
    function updateGroupMetadata(
        uint256 accountApiKeyHash,
        uint256 groupId,
        string calldata name,
        string calldata description
    ) external {
        (,, Storage.Group storage group) = _ownGroup(accountApiKeyHash, groupId);
        group.text = Storage.Text(name, description);
    }

    /// @notice Removes a group. Its id remains in the lists of keys but no longer grants any permission.
    function removeGroup(uint256 apiKeyHash, uint256 groupId) external {
        (Storage.Account storage account, uint256 masterHash) = _writable(apiKeyHash);
        (bool limited, Storage.UsageKey storage key) = _limited(account, apiKeyHash);
        if (limited && !key.deleteGroups) revert NotAllowedToDeleteGroup(apiKeyHash);
        if (!account.groups.remove(groupId)) revert GroupDoesNotExist(apiKeyHash, groupId);
        emit GroupRemoved(masterHash, groupId);
    }

    function _fits(uint256[] calldata cidHashes, address[] calldata pkpIds) private pure {
        if (cidHashes.length > MAX_GROUP_ENTRIES) revert InvalidRequest("at most 10 actions at once");
        if (pkpIds.length > MAX_GROUP_ENTRIES) revert InvalidRequest("at most 10 wallets at once");
    }

    function _fill(
        Storage.Account storage account,
        Storage.Group storage group,
        uint256[] calldata cidHashes,
        address[] calldata pkpIds
    ) private {
        Storage.Members storage members = _members(group);
        for (uint256 i = 0; i < cidHashes.length; ++i) _permit(account, members, cidHashes[i]);
        for (uint256 i = 0; i < pkpIds.length; ++i) members.pkps.add(uint160(pkpIds[i]));
    }

    function _permit(Storage.Account storage account, Storage.Members storage members, uint256 cidHash) private {
        if (_lists(account, members, cidHash)) return;
        members.cids.remove(cidHash); // an entry that is older than a removal of the action from the account
        members.cids.add(cidHash);
        members.cidGeneration[cidHash] = account.actionGeneration[cidHash];
    }

    function _ownGroup(uint256 apiKeyHash, uint256 groupId)
        private
        view
        returns (Storage.Account storage account, uint256 masterHash, Storage.Group storage group)
    {
        (account, masterHash) = _writable(apiKeyHash);
        group = _group(account, apiKeyHash, groupId);
        _onlyMaster(account, apiKeyHash);
    }

    // --- members of groups

    function addPkpToGroup(uint256 apiKeyHash, uint256 groupId, address pkpId) external {
        (Storage.Account storage account, uint256 masterHash) = _writable(apiKeyHash);
        (bool limited, Storage.UsageKey storage key) = _limited(account, apiKeyHash);
        if (limited && !_names(key.addPkpToGroups, groupId)) revert NotAllowedToAddPkpToGroup(apiKeyHash, groupId);
        _members(_group(account, apiKeyHash, groupId)).pkps.add(uint160(pkpId));
        emit PkpAddedToGroup(masterHash, groupId, pkpId);
    }

    function removePkpFromGroup(uint256 apiKeyHash, uint256 groupId, address pkpId) external {
        (Storage.Account storage account, uint256 masterHash) = _writable(apiKeyHash);
        (bool limited, Storage.UsageKey storage key) = _limited(account, apiKeyHash);
        if (limited && !_names(key.removePkpFromGroups, groupId)) {
            revert NotAllowedToRemovePkpFromGroup(apiKeyHash, groupId);
        }
        if (!_members(_group(account, apiKeyHash, groupId)).pkps.remove(uint160(pkpId))) {
            revert PkpDoesNotExist(apiKeyHash, groupId, pkpId);
        }
        emit PkpRemovedFromGroup(masterHash, groupId, pkpId);
    }

    function addActionToGroup(uint256 apiKeyHash, uint256 groupId, uint256 action) external {
        (Storage.Account storage account, uint256 masterHash) = _manages(apiKeyHash, groupId);
        _permit(account, _members(_group(account, apiKeyHash, groupId)), action);
        emit ActionAddedToGroup(masterHash, groupId, action);
    }

    function removeActionFromGroup(uint256 apiKeyHash, uint256 groupId, uint256 action) external {
        (Storage.Account storage account, uint256 masterHash) = _manages(apiKeyHash, groupId);
        Storage.Members storage members = _members(_group(account, apiKeyHash, groupId));
        if (!_lists(account, members, action)) revert ActionDoesNotExist(apiKeyHash, groupId, action);
        members.cids.remove(action);
        emit ActionRemovedFromGroup(masterHash, groupId, action);
    }

    function _manages(uint256 apiKeyHash, uint256 groupId)
        private
        view
        returns (Storage.Account storage account, uint256 masterHash)
    {
        (account, masterHash) = _writable(apiKeyHash);
        (bool limited, Storage.UsageKey storage key) = _limited(account, apiKeyHash);
        if (limited && !_names(key.manageIPFSIdsInGroups, groupId)) {
            revert NotAllowedToManageIPFSIdsInGroup(apiKeyHash, groupId);
        }
    }

    // --- actions

    /// @notice Registers an action under its hashed CID, or changes the name and description of a registered action.
    function addAction(
        uint256 accountApiKeyHash,
        string calldata name,
        string calldata description,
        uint256 actionHash
    ) external {
        (Storage.Account storage account, uint256 masterHash) = _writable(accountApiKeyHash);
        _onlyMaster(account, accountApiKeyHash);
        if (actionHash == 0) revert InvalidRequest("action hash 0 stands for any action");
        account.actions.add(actionHash);
        account.action[actionHash] = Storage.Text(name, description);
        emit ActionAdded(masterHash, actionHash);
    }

    /// @notice Removes an action from the account and from all groups. An unknown hash is not an error.
    function removeAction(uint256 accountApiKeyHash, uint256 actionHash) external {
        (Storage.Account storage account, uint256 masterHash) = _writable(accountApiKeyHash);
        _onlyMaster(account, accountApiKeyHash);
        if (actionHash == 0) revert InvalidRequest("action hash 0 stands for any action");
        account.actions.remove(actionHash);
        delete account.action[actionHash];
        ++account.actionGeneration[actionHash];
        emit ActionRemoved(masterHash, actionHash);
    }

    /// @notice Changes the name and description of an action.
    /// @param groupId Only used in the error ActionDoesNotExist.
    function updateActionMetadata(
        uint256 accountApiKeyHash,
        uint256 actionHash,
        uint256 groupId,
        string calldata name,
        string calldata description
    ) external {
        (Storage.Account storage account,) = _writable(accountApiKeyHash);
        if (!account.actions.contains(actionHash)) revert ActionDoesNotExist(accountApiKeyHash, groupId, actionHash);
        _onlyMaster(account, accountApiKeyHash);
        account.action[actionHash] = Storage.Text(name, description);
    }

    // --- wallets

    /// @notice Registers a wallet. Wallet and path are permanently bound to the account that first registers them.
    function registerWalletDerivation(
        uint256 apiKeyHash,
        address pkpId,
        uint256 derivationPath,
        string calldata name,
        string calldata description
    ) external {
        Storage.Layout storage state = Storage.layout();
        (Storage.Account storage account, uint256 masterHash) = _writable(apiKeyHash);
        (bool limited, Storage.UsageKey storage key) = _limited(account, apiKeyHash);
        if (limited && !key.createPKPs) revert NotAllowedToCreatePkp(apiKeyHash);
        if (derivationPath == 0) revert InvalidRequest("derivation path 0 names no wallet");
        if (pkpId == address(0)) revert InvalidRequest("the zero address stands for any wallet");
        if (!account.wallets.add(uint160(pkpId))) revert InvalidRequest("the wallet is registered already");
        if (state.pkpOwner[pkpId] == 0) {
            state.pkpOwner[pkpId] = masterHash;
            state.pkps.push(pkpId);
        } else if (state.pkpOwner[pkpId] != masterHash) {
            revert InvalidRequest("the wallet is owned by another account");
        }
        if (state.pathOwner[derivationPath] == 0) {
            state.pathOwner[derivationPath] = masterHash;
        } else if (state.pathOwner[derivationPath] != masterHash) {
            revert InvalidRequest("the derivation path is owned by another account");
        }
        account.wallet[pkpId] =
            Storage.Wallet(Storage.Text(name, description), account.walletsEver++, derivationPath);
        emit WalletDerivationRegistered(masterHash, pkpId, derivationPath);
    }

    /// @notice Removes a wallet from the account. The wallet remains bound to the account and listed in its groups.
    function removeWalletDerivation(uint256 apiKeyHash, address pkpId) external {
        (Storage.Account storage account, uint256 masterHash) = _writable(apiKeyHash);
        _onlyMaster(account, apiKeyHash);
        if (!account.wallets.remove(uint160(pkpId))) revert InvalidRequest("the wallet is not registered");
        delete account.wallet[pkpId];
        emit WalletDerivationRemoved(masterHash, pkpId);
    }
}
