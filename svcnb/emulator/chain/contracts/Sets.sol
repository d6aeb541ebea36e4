// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// @title Sets of numbers that remember the order of insertion
/// @notice Every operation costs the same however large the set is. Removing an element moves the last one into its
/// place, so order is that of insertion only while nothing was removed.
library Sets {
    /// @param items The elements.
    /// @param place Position of an element in `items`, counted from 1; 0 when it is absent.
    struct UintSet {
        uint256[] items;
        mapping(uint256 => uint256) place;
    }

    function contains(UintSet storage set, uint256 item) internal view returns (bool) {
        return set.place[item] != 0;
    }

    /// @return Whether the item is new.
    function add(UintSet storage set, uint256 item) internal returns (bool) {
        if (set.place[item] != 0) return false;
        set.items.push(item);
        set.place[item] = set.items.length;
        return true;
    }

    /// @return Whether the item was there.
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
