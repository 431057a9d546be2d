// SPDX-License-Identifier: Apache-2.0
// Blocks that a program repeats one after another, found by the kinds of its nodes alone.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tenon::core {

class Module;

/// `count` blocks of `length` nodes each, from the node `first` on.
struct Repeat
{
    size_t first = 0;
    size_t length = 0;
    size_t count = 0;
    size_t end() const { return first + length * count; }

    friend bool operator==(const Repeat&, const Repeat&) = default;
};

/// Of a sequence of kinds: disjoint, ascending; those that cover most come first into it, of
/// several ways to cut the same stretch the one with the shortest blocks. Blocks have at least
/// `leastLength` nodes. Takes time in proportion to the sequence and its longest block that is
/// tried.
std::vector<Repeat> findRepeats(std::span<const uint32_t> kinds, size_t leastLength = 3);

/// Of the main function's operators in program order, and their names for people; empty where the
/// model has name scopes of its own.
struct RepeatedBlock
{
    Repeat repeat;                  ///< by index into `program`
    std::vector<std::string> kinds; ///< operators of one block
};
std::vector<RepeatedBlock> repeatedBlocks(const Module& module);

} // namespace tenon::core
