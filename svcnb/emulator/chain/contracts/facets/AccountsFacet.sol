// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Base} from "../Base.sol";
import {Sets} from "../Sets.sol";
import {Storage} from "../Storage.sol";

/// @title Accounts and their usage keys
contract AccountsFacet is Base {
    using Sets for Sets.UintSet;

    event AccountCreated(uint256 indexed apiKeyHash, address indexed admin, bool managed);
    event AccountConvertedToChainSecured(uint256 indexed apiKeyHash, address indexed newAdminWalletAddress);
    event ChainSecuredAccountOwnershipTransferred(
        uint256 indexed masterApiKeyHash,
        address indexed previousAdminWalletAddress,
        address indexed newAdminWalletAddress
    );
    event UsageApiKeySet(uint256 indexed accountApiKeyHash, uint256 indexed usageApiKeyHash);
    event UsageApiKeyRemoved(uint256 indexed accountApiKeyHash, uint256 indexed usageApiKeyHash);

    /// @notice Opens an account that the sender's wallet owns.
    function newChainSecuredAccount(string calldata accountName, string calldata accountDescription) external {
        _open(_aliasOf(msg.sender), false, accountName, accountDescription, msg.sender);
    }

    /// @notice Opens an account. The server may open any; anyone else only what newChainSecuredAccount would open.
    function newAccount(
        uint256 apiKeyHash,
        bool managed,
        string calldata accountName,
        string calldata accountDescription,
        address adminWalletAddress
    ) external {
        if (!_isServer(msg.sender)) {
            if (managed) revert InvalidRequest("only the service opens managed accounts");
            if (apiKeyHash != _aliasOf(msg.sender)) revert InvalidRequest("the hash must be keccak256 of the sender's address");
            if (adminWalletAddress != msg.sender) revert InvalidRequest("the admin must be the sender");
        }
        _open(apiKeyHash, managed, accountName, accountDescription, adminWalletAddress);
    }

    function _open(uint256 hash, bool managed, string calldata name, string calldata description, address admin) private {
        Storage.Layout storage state = Storage.layout();
        if (hash == 0) revert InvalidRequest("hash 0 names no account");
        if (admin == address(0)) revert InvalidRequest("the admin is the zero address");
        if (state.masterOf[hash] != 0) revert AccountAlreadyExists(hash);
        state.masterOf[hash] = hash;
        state.accountAt[++state.accountCount] = hash;
        if (state.adminOf[admin] == 0) state.adminOf[admin] = hash;
        Storage.Account storage account = state.accounts[hash];
        account.managed = managed;
        account.admin = admin;
        account.billing = admin;
        account.text = Storage.Text(name, description);
        account.expiration = block.timestamp + MASTER_LIFETIME;
        emit AccountCreated(hash, admin, managed);
    }

    /// @notice Hands a managed account to a wallet, for ever. Everything in the account stays, and so does who pays.
    /// @param apiKeyHash The account's master hash.
    /// @param newAdminWalletAddress A wallet that holds no other account.
    function convertToChainSecuredAccount(uint256 apiKeyHash, address newAdminWalletAddress) external {
        _onlyServer();
        Storage.Layout storage state = Storage.layout();
        if (newAdminWalletAddress == address(0)) revert InvalidRequest("the new admin is the zero address");
        uint256 newAlias = _aliasOf(newAdminWalletAddress);
        uint256 held = state.adminOf[newAdminWalletAddress];
        if (state.masterOf[newAlias] != 0 || (held != 0 && held != apiKeyHash)) revert AccountAlreadyExists(newAlias);
        if (apiKeyHash == 0 || state.masterOf[apiKeyHash] != apiKeyHash) revert AccountDoesNotExist(apiKeyHash);
        Storage.Account storage account = state.accounts[apiKeyHash];
        if (!account.managed) revert InvalidRequest("the account is ChainSecured already");
        account.managed = false;
        _appoint(account, apiKeyHash, newAdminWalletAddress, newAlias);
        emit AccountConvertedToChainSecured(apiKeyHash, newAdminWalletAddress);
    }

    /// @notice Hands a ChainSecured account to another wallet; only its admin may. Who pays does not change.
    /// @param apiKeyHash Any hash of the account.
    /// @param newAdminWalletAddress A wallet that was never admin of any account.
    function transferChainSecuredAccountOwnership(uint256 apiKeyHash, address newAdminWalletAddress) external {
        Storage.Layout storage state = Storage.layout();
        if (newAdminWalletAddress == address(0)) revert InvalidRequest("the new admin is the zero address");
        (Storage.Account storage account, uint256 masterHash) = _account(apiKeyHash);
        if (account.managed) revert InvalidRequest("the account is managed: convert it first");
        address previous = account.admin;
        if (msg.sender != previous) revert NoAccountAccess(apiKeyHash, msg.sender);
        if (newAdminWalletAddress == previous) revert InvalidRequest("the new admin is the admin already");
        uint256 newAlias = _aliasOf(newAdminWalletAddress);
        if (state.masterOf[newAlias] != 0 || state.adminOf[newAdminWalletAddress] != 0) revert AccountAlreadyExists(newAlias);
        _appoint(account, masterHash, newAdminWalletAddress, newAlias);
        emit ChainSecuredAccountOwnershipTransferred(masterHash, previous, newAdminWalletAddress);
    }

    function _appoint(Storage.Account storage account, uint256 masterHash, address admin, uint256 newAlias) private {
        Storage.Layout storage state = Storage.layout();
        account.admin = admin;
        state.masterOf[newAlias] = masterHash;
        state.adminOf[admin] = masterHash;
    }

    /// @notice Creates a usage key, or replaces all of one.
    /// @param accountApiKeyHash Master hash or admin alias.
    /// @param usageApiKeyHash The key's hash.
    /// @param expiration Unix seconds from which on the key is dead; 0 means never.
    /// @param balance Kept, but used by nothing.
    /// @param name Display name.
    /// @param description Display text.
    /// @param createGroups Whether the key may create groups.
    /// @param deleteGroups Whether the key may delete groups.
    /// @param createPKPs Whether the key may register wallets.
    /// @param manageIPFSIdsInGroups Groups whose actions the key may change; 0 means all.
    /// @param addPkpToGroups Groups to which the key may add wallets; 0 means all.
    /// @param removePkpFromGroups Groups from which the key may remove wallets; 0 means all.
    /// @param executeInGroups Groups whose actions the key may run; 0 means any action.
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
        (Storage.Account storage account, uint256 masterHash) = _writable(accountApiKeyHash);
        _onlyMaster(account, accountApiKeyHash);
        if (usageApiKeyHash == 0) revert InvalidRequest("usage key hash 0 names no key");
        if (
            manageIPFSIdsInGroups.length > MAX_KEY_GROUPS || addPkpToGroups.length > MAX_KEY_GROUPS
                || removePkpFromGroups.length > MAX_KEY_GROUPS || executeInGroups.length > MAX_KEY_GROUPS
        ) revert InvalidRequest("a permission list holds at most 50 groups");
        if (!_isUsageKey(account, usageApiKeyHash)) {
            if (Storage.layout().masterOf[usageApiKeyHash] != 0) revert AccountAlreadyExists(usageApiKeyHash);
            Storage.layout().masterOf[usageApiKeyHash] = masterHash;
            account.usageKeys.add(usageApiKeyHash);
        }
        account.usageKey[usageApiKeyHash] = Storage.UsageKey({
            text: Storage.Text(name, description),
            expiration: expiration,
            balance: balance,
            createGroups: createGroups,
            deleteGroups: deleteGroups,
            createPKPs: createPKPs,
            manageIPFSIdsInGroups: manageIPFSIdsInGroups,
            addPkpToGroups: addPkpToGroups,
            removePkpFromGroups: removePkpFromGroups,
            executeInGroups: executeInGroups
        });
        emit UsageApiKeySet(masterHash, usageApiKeyHash);
    }

    /// @notice Renames a usage key; its permissions stay.
    function updateUsageApiKeyMetadata(
        uint256 accountApiKeyHash,
        uint256 usageApiKeyHash,
        string calldata name,
        string calldata description
    ) external {
        (Storage.Account storage account,) = _ownKey(accountApiKeyHash, usageApiKeyHash);
        account.usageKey[usageApiKeyHash].text = Storage.Text(name, description);
    }

    /// @notice Removes a usage key; its hash names nothing afterwards.
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
