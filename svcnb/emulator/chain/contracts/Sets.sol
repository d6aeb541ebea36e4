// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @title Sets of numbers that preserve the order of insertion until the first removal
/// @notice The cost of each operation does not depend on the size of the set. The removal of an element moves the last
/// element to its position, which changes the order.
library Sets {
    /// @param items Elements of the set.
    /// @param place Position of an element in `items`, counted from 1, or 0 if it is not in the set.
    struct UintSet {
        uint256[] items;
        mapping(uint256 => uint256) place;
    }

    function contains(UintSet storage set, uint256 item) internal view returns (bool) {
        return set.place[item] != 0;
    }

    /// @return Whether the item was added. False if it was already in the set.
    function add(UintSet storage set, uint256 item) internal returns (bool) {
        if (set.place[item] != 0) return false;
        set.items.push(item);
        set.place[item] = set.items.length;
        return true;
    }

    /// @return Whether the item was removed. False if it was not in the set.
    function remove(UintSet storage set, uint256 item) internal returns (bool) {
        uint256 place = set.place[item];
        if (place == 0) return false;
        uint256 last = set.items[set.items.length - 1];
        set.items[place - 1] = last;
        set.place[last] = place;
        set.items.pop();
        delete set.place[item];
        return true;
    }
}
