// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Sets} from "./Sets.sol";
import {Storage} from "./Storage.sol";

/// @title Custom errors of the contract
interface Errors {
    error AccountDoesNotExist(uint256 apiKeyHash);
    error NoAccountAccess(uint256 apiKeyHash, address sender);
    error AccountAlreadyExists(uint256 apiKeyHash);
    error GroupDoesNotExist(uint256 apiKeyHash, uint256 groupId);
    error PkpDoesNotExist(uint256 apiKeyHash, uint256 groupId, address pkpId);
    error ActionDoesNotExist(uint256 apiKeyHash, uint256 groupId, uint256 action);
    error UsageApiKeyDoesNotExist(uint256 accountApiKeyHash, uint256 usageApiKeyHash);
    error UsageApiKeyExpired(uint256 usageApiKeyHash);
    error InsufficientBalance(uint256 apiKeyHash, uint256 amount);
    error OnlyApiPayer(address sender);
    error OnlyApiPayerOrPricingOperator(address sender);
    error OnlyApiPayerOrOwner(address sender);
    error OnlyConfigOperatorOrOwner(address sender);
    error NotMasterAccount(uint256 apiKeyHash);
    error NotAllowedToCreateGroup(uint256 apiKeyHash);
    error NotAllowedToDeleteGroup(uint256 apiKeyHash);
    error NotAllowedToCreatePkp(uint256 apiKeyHash);
    error NotAllowedToAddPkpToGroup(uint256 apiKeyHash, uint256 groupId);
    error NotAllowedToRemovePkpFromGroup(uint256 apiKeyHash, uint256 groupId);
    error NotAllowedToManageIPFSIdsInGroup(uint256 apiKeyHash, uint256 groupId);
    error InvalidRequest(string reason);
    error NotContractOwner(address sender, address owner);
    error FunctionNotFound(bytes4 selector);
    error DirectETHTransferNotAllowed();
}

/// @title Access rules that all facets share
/// @notice Three kinds of hashes identify an account. The master hash and the aliases of its admins have the rights of
/// the account itself. The hash of a usage key has the permissions of that key. Independently of the hash, the sender
/// must be the account's admin wallet, or an API payer if the account is managed.
abstract contract Base is Errors {
    using Sets for Sets.UintSet;

    uint256 internal constant MAX_GROUP_ENTRIES = 10;
    uint256 internal constant MAX_KEY_GROUPS = 50;
    uint256 internal constant MASTER_LIFETIME = 10 * 365 days;

    // --- hashes

    /// @notice Returns the lookup hash of an admin wallet: the keccak256 hash of its 20 address bytes.
    function _aliasOf(address wallet) internal pure returns (uint256) {
        return uint256(keccak256(abi.encodePacked(wallet)));
    }

    /// @notice Returns the account of a known hash.
    function _account(uint256 apiKeyHash) internal view returns (Storage.Account storage account, uint256 masterHash) {
        masterHash = Storage.layout().masterOf[apiKeyHash];
        if (masterHash == 0) revert AccountDoesNotExist(apiKeyHash);
        account = Storage.layout().accounts[masterHash];
    }

    function _isUsageKey(Storage.Account storage account, uint256 apiKeyHash) internal view returns (bool) {
        return account.usageKeys.contains(apiKeyHash);
    }

    function _isExpired(Storage.UsageKey storage key) internal view returns (bool) {
        return key.expiration != 0 && block.timestamp >= key.expiration;
    }

    // --- senders

    function _senderActsFor(Storage.Account storage account) internal view returns (bool) {
        return msg.sender == account.admin || (account.managed && Storage.layout().isPayer[msg.sender]);
    }

    /// @notice Returns the account of a hash, and reverts if the sender must not write to the account.
    function _writable(uint256 apiKeyHash) internal view returns (Storage.Account storage account, uint256 masterHash) {
        masterHash = Storage.layout().masterOf[apiKeyHash];
        account = Storage.layout().accounts[masterHash];
        if (masterHash == 0 || !_senderActsFor(account)) revert NoAccountAccess(apiKeyHash, msg.sender);
    }

    function _onlyMaster(Storage.Account storage account, uint256 apiKeyHash) internal view {
        if (_isUsageKey(account, apiKeyHash)) revert NotMasterAccount(apiKeyHash);
    }

    /// @notice Returns whether the hash has limited rights. Reverts for an expired usage key, which may not write.
    function _limited(Storage.Account storage account, uint256 apiKeyHash)
        internal
        view
        returns (bool limited, Storage.UsageKey storage key)
    {
        key = account.usageKey[apiKeyHash];
        limited = _isUsageKey(account, apiKeyHash);
        if (limited && _isExpired(key)) revert UsageApiKeyExpired(apiKeyHash);
    }

    function _isServer(address sender) internal view returns (bool) {
        Storage.Layout storage state = Storage.layout();
        return state.isPayer[sender] || sender == state.owner || sender == state.adminPayer;
    }

    function _onlyServer() internal view {
        if (!_isServer(msg.sender)) revert OnlyApiPayerOrOwner(msg.sender);
    }

    function _onlyContractOwner() internal view {
        address owner_ = Storage.layout().owner;
        if (msg.sender != owner_) revert NotContractOwner(msg.sender, owner_);
    }

    // --- groups

    /// @notice Returns whether a permission list contains the group. 0 in the list means all groups.
    function _names(uint256[] storage list, uint256 groupId) internal view returns (bool) {
        for (uint256 i = 0; i < list.length; ++i) {
            if (list[i] == groupId || list[i] == 0) return true;
        }
        return false;
    }

    function _isWildcard(uint256[] storage list) internal view returns (bool) {
        for (uint256 i = 0; i < list.length; ++i) {
            if (list[i] == 0) return true;
        }
        return false;
    }

    function _group(Storage.Account storage account, uint256 apiKeyHash, uint256 groupId)
        internal
        view
        returns (Storage.Group storage group)
    {
        if (!account.groups.contains(groupId)) revert GroupDoesNotExist(apiKeyHash, groupId);
        group = account.group[groupId];
    }

    function _members(Storage.Group storage group) internal view returns (Storage.Members storage) {
        return group.members[group.revision];
    }

    /// @notice Returns whether the group lists exactly this hash. Ignores the wildcard.
    function _lists(Storage.Account storage account, Storage.Members storage members, uint256 cidHash)
        internal
        view
        returns (bool)
    {
        return members.cids.contains(cidHash) && members.cidGeneration[cidHash] == account.actionGeneration[cidHash];
    }

    function _permitsAction(Storage.Account storage account, Storage.Members storage members, uint256 cidHash)
        internal
        view
        returns (bool)
    {
        return members.cids.contains(0) || _lists(account, members, cidHash);
    }

    function _permitsWallet(Storage.Members storage members, address pkpId) internal view returns (bool) {
        return members.pkps.contains(0) || members.pkps.contains(uint160(pkpId));
    }
}
