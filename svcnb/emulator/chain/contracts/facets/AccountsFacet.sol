// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Base} from "../Base.sol";
import {Storage} from "../Storage.sol";

/// @title Accounts and their owners
contract AccountsFacet is Base {
    event AccountCreated(uint256 indexed apiKeyHash, address indexed admin, bool managed);
    event AccountConvertedToChainSecured(uint256 indexed apiKeyHash, address indexed newAdminWalletAddress);
    event ChainSecuredAccountOwnershipTransferred(
        uint256 indexed masterApiKeyHash,
        address indexed previousAdminWalletAddress,
        address indexed newAdminWalletAddress
    );

    /// @notice Creates an account that the sender's wallet owns.
    function newChainSecuredAccount(string calldata accountName, string calldata accountDescription) external {
        _open(_aliasOf(msg.sender), false, accountName, accountDescription, msg.sender);
    }

    /// @notice Creates an account. The server may create any account. Other senders may only create their own, as with
    /// newChainSecuredAccount.
    function newAccount(
        uint256 apiKeyHash,
        bool managed,
        string calldata accountName,
        string calldata accountDescription,
        address adminWalletAddress
    ) external {
        if (!_isServer(msg.sender)) {
            if (managed) revert InvalidRequest("only the service opens managed accounts");
            if (apiKeyHash != _aliasOf(msg.sender)) revert InvalidRequest("the hash must be the sender's own");
            if (adminWalletAddress != msg.sender) revert InvalidRequest("the admin must be the sender");
        }
        _open(apiKeyHash, managed, accountName, accountDescription, adminWalletAddress);
    }

    function _open(uint256 hash, bool managed, string calldata name, string calldata description, address admin)
        private
    {
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

    /// @notice Permanently transfers a managed account to a wallet. Its content and billing wallet remain unchanged.
    /// Only an API payer or the contract's owner may call this. The admin payer may not.
    /// @param apiKeyHash Master hash of the account.
    /// @param newAdminWalletAddress Wallet that owns no other account.
    function convertToChainSecuredAccount(uint256 apiKeyHash, address newAdminWalletAddress) external {
        Storage.Layout storage state = Storage.layout();
        if (!state.isPayer[msg.sender] && msg.sender != state.owner) revert OnlyApiPayerOrOwner(msg.sender);
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

    /// @notice Transfers a ChainSecured account to another wallet. Only its admin may call this. The billing wallet
    /// does not change.
    /// @param apiKeyHash Any hash of the account.
    /// @param newAdminWalletAddress Wallet that was never the admin of an account.
    function transferChainSecuredAccountOwnership(uint256 apiKeyHash, address newAdminWalletAddress) external {
        Storage.Layout storage state = Storage.layout();
        if (newAdminWalletAddress == address(0)) revert InvalidRequest("the new admin is the zero address");
        (Storage.Account storage account, uint256 masterHash) = _account(apiKeyHash);
        if (account.managed) revert InvalidRequest("the account is managed: convert it first");
        address previous = account.admin;
        if (msg.sender != previous) revert NoAccountAccess(apiKeyHash, msg.sender);
        if (newAdminWalletAddress == previous) revert InvalidRequest("the new admin is the admin already");
        uint256 newAlias = _aliasOf(newAdminWalletAddress);
        if (state.masterOf[newAlias] != 0 || state.adminOf[newAdminWalletAddress] != 0) {
            revert AccountAlreadyExists(newAlias);
        }
        _appoint(account, masterHash, newAdminWalletAddress, newAlias);
        emit ChainSecuredAccountOwnershipTransferred(masterHash, previous, newAdminWalletAddress);
    }

    function _appoint(Storage.Account storage account, uint256 masterHash, address admin, uint256 newAlias) private {
        Storage.Layout storage state = Storage.layout();
        account.admin = admin;
        state.masterOf[newAlias] = masterHash;
        state.adminOf[admin] = masterHash;
    }
}
