// SPDX-License-Identifier: Apache-2.0
// Differential fuzzing of whole graphs: `./dev fuzz graphs --count N`.
//
// usage: fuzz_graphs [--count N] [--seed S] [--save FOLDER] [--peer PROGRAM LIBRARY] [--coverage]
//                    [--images]
// Graph i has the seed S + i. Mismatches are kept below FOLDER as cases for `tenon verify`.
// --images draws layers of convolutional networks alone.
// --coverage runs nothing and names the operators that the graphs do not hold.
#include "compiler/frontend/onnx/converters/converters.h"
#include "core/base/text.h"
#include "tests/fuzz/graphs/run_graph.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

namespace tenon::test {
namespace {

struct Options
{
    int count = 1000;
    uint64_t seed = 1;
    std::string save = "fuzz-graphs";
    std::string program; ///< ort_peer; empty: no peer
    std::string library;
    bool onlyCoverage = false;
    bool onlyImages = false;

    RandomGraph graph(int i) const
    {
        const uint64_t own = seed + static_cast<uint64_t>(i);
        return onlyImages ? makeRandomImageGraph(own) : makeRandomGraph(own);
    }
};

bool readOptions(int argc, char** argv, Options& options)
{
    for (int i = 1; i < argc; ++i) {
        const bool hasNext = i + 1 < argc;
        if (std::strcmp(argv[i], "--count") == 0 && hasNext)
            options.count = std::atoi(argv[++i]);
        else if (std::strcmp(argv[i], "--seed") == 0 && hasNext)
            options.seed = std::strtoull(argv[++i], nullptr, 10);
        else if (std::strcmp(argv[i], "--save") == 0 && hasNext)
            options.save = argv[++i];
        else if (std::strcmp(argv[i], "--peer") == 0 && i + 2 < argc) {
            options.program = argv[++i];
            options.library = argv[++i];
        } else if (std::strcmp(argv[i], "--coverage") == 0) {
            options.onlyCoverage = true;
        } else if (std::strcmp(argv[i], "--images") == 0) {
            options.onlyImages = true;
        } else {
            return false;
        }
    }
    return true;
}

using Names = std::set<std::string>;

void addOperators(const tenon_onnx::GraphProto& graph, Names& names)
{
    for (const auto& node : graph.node()) {
        names.insert(node.op_type());
        for (const auto& attr : node.attribute()) addOperators(attr.g(), names);
    }
}

Names supportedOperators()
{
    Names out;
    for (const compiler::Converter& row : compiler::allConverters()) out.emplace(row.op);
#define GRAPH_OPERATOR(op, since, function, becomes) out.emplace(op);
#include "compiler/frontend/onnx/graph/graph_operators.def"
#undef GRAPH_OPERATOR
    return out;
}

std::string coverageText(const Names& drawn)
{
    return std::to_string(drawn.size()) + " of " + std::to_string(supportedOperators().size()) +
           " imported operators drawn";
}

int showCoverage(const Options& options)
{
    Names drawn;
    for (int i = 0; i < options.count; ++i) addOperators(options.graph(i).model.graph(), drawn);
    for (const std::string& name : supportedOperators())
        if (!drawn.contains(name)) std::printf("%s\n", name.c_str());
    std::printf("%s\n", coverageText(drawn).c_str());
    return 0;
}

struct Tally
{
    int graphs = 0, onVm = 0, skipped = 0, mismatches = 0, compared = 0;
    double largest = 0;
    std::map<std::string, int> refusals; ///< of the peer, by reason
    Names drawn;

    void add(const RandomGraph& graph, const GraphCheck& check)
    {
        ++graphs;
        onVm += graph.needsVm;
        skipped += check.isSkipped;
        mismatches += !check.mismatch.empty();
        compared += check.isCompared;
        largest = std::max(largest, check.largest);
        if (!check.refusal.empty()) ++refusals[check.refusal.substr(0, 160)];
        addOperators(graph.model.graph(), drawn);
    }

    void print() const
    {
        std::printf("%d graphs, %d of them for the VM only, %d without finite values, %d "
                    "mismatches; largest relative difference %.2g; %s\n",
                    graphs, onVm, skipped, mismatches, largest, coverageText(drawn).c_str());
        if (compared > 0 || !refusals.empty()) std::printf("%d compared with the peer\n", compared);
        for (const auto& [reason, count] : refusals)
            std::printf("  %d not: %s\n", count, reason.c_str());
    }
};

int fuzz(const Options& options)
{
    core::JobContext job;
    Peer peer(options.program, options.library);
    Tally tally;
    for (int i = 0; i < options.count; ++i) {
        const uint64_t seed = options.seed + static_cast<uint64_t>(i);
        const RandomGraph graph = options.graph(i);
        const std::string folder = options.save + "/seed_" + std::to_string(seed);
        const GraphCheck check = checkGraph(graph, folder, peer, job);
        tally.add(graph, check);
        if (check.mismatch.empty()) {
            std::filesystem::remove_all(folder);
            continue;
        }
        for (const char* byproduct : {"/cache", "/peer", "/model.so"})
            std::filesystem::remove_all(folder + byproduct);
        std::printf("seed %llu: %s\n  kept in %s\n", static_cast<unsigned long long>(seed),
                    check.mismatch.c_str(), folder.c_str());
        std::fflush(stdout);
    }
    tally.print();
    return tally.mismatches == 0 ? 0 : 1;
}

} // namespace
} // namespace tenon::test

int main(int argc, char** argv)
{
    tenon::test::Options options;
    if (!tenon::test::readOptions(argc, argv, options)) {
        std::fprintf(stderr, "usage: fuzz_graphs [--count N] [--seed S] [--save FOLDER] "
                             "[--peer PROGRAM LIBRARY] [--coverage] [--images]\n");
        return 2;
    }
    return options.onlyCoverage ? tenon::test::showCoverage(options) : tenon::test::fuzz(options);
}
