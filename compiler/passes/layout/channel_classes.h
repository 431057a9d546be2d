// SPDX-License-Identifier: Apache-2.0
// ChannelClasses: which values have the same channels because operators pass each channel on by
// itself.
#pragma once

#include "compiler/passes/rewrite.h"
#include "compiler/passes/use_index.h"

#include <set>
#include <unordered_map>
#include <vector>

namespace tenon::compiler {

/// Values [N, C, H, W] of one count of channels, and who makes and reads them.
struct ChannelClass
{
    int64_t channels = 0;
    bool hasFloatLayers = false;      ///< convolutions of floats make or read them
    bool isOfBoth = false;            ///< floats and their integers
    int64_t unit = 1;                 ///< a group that stays together has so many channels
    bool canGrow = true;              ///< every maker has weights that zero filters can be added to
    std::vector<NodeId> makers = {};  ///< convolutions of other channels
    std::vector<NodeId> passing = {}; ///< operators from channel to channel
    std::vector<NodeId> padders = {}; ///< append channels of one number to images of fewer
    std::vector<NodeId> readers = {}; ///< convolutions whose sums run over these channels
    std::vector<ValueRef> leaving = {}; ///< values that somebody reads as they are
};

class ChannelClasses
{
public:
    ChannelClasses(const Module& module, const GraphFunction& function);

    const std::vector<ChannelClass>& all() const { return m_classes; }
    /// Index of the class of a value; nothing for those of other forms.
    std::optional<size_t> classOf(ValueRef value) const;

private:
    void build();
    void joinValues();
    void collect();
    void collectReaders(const NodeRecord& node);
    bool isOfChannels(ValueRef value) const;
    bool passes(const NodeRecord& node) const;
    size_t rootOf(size_t value) const;
    void join(ValueRef a, ValueRef b);
    void leave(ValueRef value);

    const Module& m_module;
    const GraphFunction& m_function;
    std::vector<ValueRef> m_values;
    std::unordered_map<ValueRef, size_t> m_index;
    std::vector<size_t> m_parent; ///< union-find over m_values
    std::unordered_map<size_t, size_t> m_classOfRoot;
    std::vector<ChannelClass> m_classes;
    std::set<NodeId> m_apart; ///< quantizations whose two sides do not grow together
};

/// What stands for zero among a convolution's weights; nothing where that is not one known number.
std::optional<int> weightZeroOf(const Module& module, const NodeRecord& conv);
/// A reduction of images of so many dimensions that leaves batch and channels alone.
bool reducesRowsOrColumns(const NodeRecord& node, size_t rank);
/// A convolution of float32 or of bytes, of one group in plain layouts, whose weights and their
/// zero point are known.
bool isWholeConvolution(const Module& module, const NodeRecord& node);
/// One of each group of channels by itself, with as many results as data; a group may be a channel.
bool isGroupwiseConvolution(const Module& module, const NodeRecord& node);

} // namespace tenon::compiler
