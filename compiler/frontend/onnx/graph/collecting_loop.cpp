// SPDX-License-Identifier: Apache-2.0
// A sequence that every step appends to is what ONNX calls a scan output, once it is stacked.
#include "compiler/frontend/onnx/graph/collecting_loop.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tenon_onnx::GraphProto;
using tenon_onnx::NodeProto;

/// How often nodes of the graph, and the bodies in it, read the name.
int readsOf(const GraphProto& graph, const std::string& name)
{
    int count = 0;
    for (const NodeProto& node : graph.node()) {
        count += static_cast<int>(std::count(node.input().begin(), node.input().end(), name));
        for (const auto& attr : node.attribute()) {
            count += readsOf(attr.g(), name);
            for (const auto& output : attr.g().output()) count += output.name() == name ? 1 : 0;
        }
    }
    return count;
}

int outputsOf(const GraphProto& graph, const std::string& name)
{
    return static_cast<int>(
        std::count_if(graph.output().begin(), graph.output().end(),
                      [&](const auto& output) { return output.name() == name; }));
}

/// Index of the node that makes `after` of `before` by appending, where both have no other use.
std::optional<int> appenderOf(const GraphProto& body, const std::string& before,
                              const std::string& after)
{
    if (readsOf(body, before) != 1 || readsOf(body, after) != 0 || outputsOf(body, before) != 0 ||
        outputsOf(body, after) != 1)
        return std::nullopt;
    for (int i = 0; i < body.node_size(); ++i) {
        const NodeProto& node = body.node(i);
        const bool isAppender = node.op_type() == "SequenceInsert" && node.input_size() == 2 &&
                                node.output_size() == 1 && node.input(0) == before &&
                                node.output(0) == after;
        if (isAppender) return i;
    }
    return std::nullopt;
}

} // namespace

std::string stackedName(const std::string& sequence) { return sequence + "[]"; }

std::optional<CollectingLoop> collectingLoop(const NodeProto& loop,
                                             const std::vector<int>& sequences)
{
    CollectingLoop out{loop, {}};
    const auto attr =
        std::find_if(out.loop.mutable_attribute()->begin(), out.loop.mutable_attribute()->end(),
                     [](const auto& a) { return a.name() == "body"; });
    if (attr == out.loop.mutable_attribute()->end()) return std::nullopt;
    GraphProto& body = *attr->mutable_g();
    std::vector<std::string> appended;
    for (auto at = sequences.rbegin(); at != sequences.rend(); ++at) {
        if (body.input_size() <= *at + 2 || body.output_size() <= *at + 1 ||
            out.loop.output_size() <= *at)
            return std::nullopt;
        const auto node = appenderOf(body, body.input(*at + 2).name(), body.output(*at + 1).name());
        if (!node) return std::nullopt;
        appended.push_back(body.node(*node).input(1));
        out.sequences.push_back(out.loop.output(*at));
        body.mutable_node()->DeleteSubrange(*node, 1);
        body.mutable_input()->DeleteSubrange(*at + 2, 1);
        body.mutable_output()->DeleteSubrange(*at + 1, 1);
        out.loop.mutable_input()->DeleteSubrange(*at + 2, 1);
        out.loop.mutable_output()->DeleteSubrange(*at, 1);
    }
    for (size_t i = 0; i < appended.size(); ++i) {
        body.add_output()->set_name(appended[i]);
        const std::string& name = out.sequences[i];
        out.loop.add_output(name.empty() ? name : stackedName(name));
    }
    return out;
}

} // namespace tenon::compiler
