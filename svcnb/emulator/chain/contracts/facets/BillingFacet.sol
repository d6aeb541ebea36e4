// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

import {Base} from "../Base.sol";
import {Storage} from "../Storage.sol";

/// @title Prices and balances on chain
/// @notice These functions only complete the interface, because the service charges from its own ledger.
contract BillingFacet is Base {
    event ApiKeyDebited(uint256 indexed apiKeyHash, uint256 amount);
    event ApiKeyCredited(uint256 indexed apiKeyHash, uint256 amount);
    event PricingUpdated(uint256 indexed pricingItemId, uint256 price);
    event PricingOperatorUpdated(address indexed newPricingOperator);

    function debitApiKey(uint256 apiKeyHash, uint256 amount) external {
        Storage.Account storage account = _charged(apiKeyHash);
        if (account.balance < amount) revert InsufficientBalance(apiKeyHash, amount);
        account.balance -= amount;
        emit ApiKeyDebited(apiKeyHash, amount);
    }

    function creditApiKey(uint256 apiKeyHash, uint256 amount) external {
        _charged(apiKeyHash).balance += amount;
        emit ApiKeyCredited(apiKeyHash, amount);
    }

    function _charged(uint256 apiKeyHash) private view returns (Storage.Account storage account) {
        _onlyPricing();
        (account,) = _writable(apiKeyHash);
        _onlyMaster(account, apiKeyHash);
    }

    function setPricing(uint256 pricingItemId, uint256 price) external {
        _onlyPricing();
        Storage.layout().pricing[pricingItemId] = price;
        emit PricingUpdated(pricingItemId, price);
    }

    function _onlyPricing() private view {
        Storage.Layout storage state = Storage.layout();
        if (!state.isPayer[msg.sender] && msg.sender != state.pricingOperator) {
            revert OnlyApiPayerOrPricingOperator(msg.sender);
        }
    }

    function setPricingOperator(address newPricingOperator) external {
        _onlyContractOwner();
        Storage.layout().pricingOperator = newPricingOperator;
        emit PricingOperatorUpdated(newPricingOperator);
    }

    function pricingOperator() external view returns (address) {
        return Storage.layout().pricingOperator;
    }

    function getPricing(uint256 pricingItemId) external view returns (uint256) {
        return Storage.layout().pricing[pricingItemId];
    }

    function pricingAt(uint256 pricingItemId) external view returns (uint256) {
        return Storage.layout().pricing[pricingItemId];
    }
}
