// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Base} from "../Base.sol";
import {Storage} from "../Storage.sol";

/// @title Settings of the service: payers, operators and node configuration
contract ServiceFacet is Base {
    struct NodeConfiguration {
        string key;
        string value;
    }

    event ConfigOperatorUpdated(address indexed newConfigOperator);
    event ApiPayersUpdated(address[] newApiPayers);
    event AdminApiPayerUpdated(address indexed newAdminApiPayerAccount);
    event RebalanceAmountUpdated(uint256 newRebalanceAmount);
    event RequestedApiPayerCountUpdated(uint256 newCount);
    event ServerTriggered(uint256 value, address indexed sender);

    // --- payers

    /// @notice Replaces the wallets that relay writes for managed accounts.
    function setApiPayers(address[] calldata newApiPayers) external {
        Storage.Layout storage state = Storage.layout();
        if (msg.sender != state.owner && msg.sender != state.adminPayer) revert OnlyApiPayerOrOwner(msg.sender);
        for (uint256 i = 0; i < state.payers.length; ++i) state.isPayer[state.payers[i]] = false;
        delete state.payers;
        for (uint256 i = 0; i < newApiPayers.length; ++i) {
            if (state.isPayer[newApiPayers[i]]) continue;
            state.isPayer[newApiPayers[i]] = true;
            state.payers.push(newApiPayers[i]);
        }
        emit ApiPayersUpdated(newApiPayers);
    }

    function setAdminApiPayerAccount(address newAdminApiPayerAccount) external {
        _onlyServer();
        Storage.layout().adminPayer = newAdminApiPayerAccount;
        emit AdminApiPayerUpdated(newAdminApiPayerAccount);
    }

    function setRequestedApiPayerCount(uint256 newCount) external {
        _onlyServer();
        Storage.layout().requestedPayerCount = newCount;
        emit RequestedApiPayerCountUpdated(newCount);
    }

    function setRebalanceAmount(uint256 newRebalanceAmount) external {
        _onlyServer();
        Storage.layout().rebalanceAmount = newRebalanceAmount;
        emit RebalanceAmountUpdated(newRebalanceAmount);
    }

    function api_payers() external view returns (address[] memory) {
        return Storage.layout().payers;
    }

    function apiPayerCount() external view returns (uint256) {
        return Storage.layout().payers.length;
    }

    function requestedApiPayerCount() external view returns (uint256) {
        return Storage.layout().requestedPayerCount;
    }

    function adminApiPayerAccount() external view returns (address) {
        return Storage.layout().adminPayer;
    }

    function rebalanceAmount() external view returns (uint256) {
        return Storage.layout().rebalanceAmount;
    }

    // --- operators

    function setConfigOperator(address newConfigOperator) external {
        Storage.Layout storage state = Storage.layout();
        if (msg.sender != state.configOperator && msg.sender != state.owner) {
            revert OnlyConfigOperatorOrOwner(msg.sender);
        }
        state.configOperator = newConfigOperator;
        emit ConfigOperatorUpdated(newConfigOperator);
    }

    function configOperator() external view returns (address) {
        return Storage.layout().configOperator;
    }

    /// @notice Requests a restart of the servers.
    function serverTrigger(uint256 value) external {
        _onlyContractOwner();
        emit ServerTriggered(value, msg.sender);
    }

    // --- node configuration

    function setNodeConfiguration(string calldata key, string calldata value) external {
        _onlyServer();
        Storage.Layout storage state = Storage.layout();
        if (!state.nodeKeyKnown[key]) {
            state.nodeKeyKnown[key] = true;
            state.nodeKeys.push(key);
        }
        state.nodeValue[key] = value;
    }

    function nodeConfigurationKeys() external view returns (string[] memory) {
        return Storage.layout().nodeKeys;
    }

    function nodeConfigurationValue(string calldata key) external view returns (string memory) {
        return Storage.layout().nodeValue[key];
    }

    function nodeConfigurationValues() external view returns (NodeConfiguration[] memory all) {
        Storage.Layout storage state = Storage.layout();
        all = new NodeConfiguration[](state.nodeKeys.length);
        for (uint256 i = 0; i < all.length; ++i) {
            all[i] = NodeConfiguration(state.nodeKeys[i], state.nodeValue[state.nodeKeys[i]]);
        }
    }
}
