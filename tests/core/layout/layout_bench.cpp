// SPDX-License-Identifier: Apache-2.0
// Times the layout of every synthetic family; prints milliseconds of processor time, so that other
// work on the computer counts little. Crossings are not counted here.
#include "core/base/text.h"
#include "tests/core/layout/families.h"

#include <cstdio>
#include <ctime>

int main()
{
    using namespace tenon;
    std::printf("%-24s %9s %9s %10s %12s\n", "family", "nodes", "edges", "ms", "size");
    for (const uint32_t count : {1000u, 10000u, 100000u}) {
        const std::pair<const char*, core::LayoutGraph> families[] = {
            {"chain", tests::chain(count)},
            {"residual ladder", tests::residualLadder(count)},
            {"transformer", tests::transformer(count, false)},
            {"transformer global edge", tests::transformer(count, true)},
            {"random DAG", tests::randomDag(count, 1)},
            {"grouped ladder", tests::groupedLadder(count, 8)}};
        for (const auto& [name, graph] : families) {
            double best = 1e30;
            core::LayoutRect bounds;
            for (int round = 0; round < 3; ++round) {
                const auto start = std::clock();
                bounds = core::layoutGraph(graph)->bounds;
                best = std::min(best,
                                1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
            }
            std::printf("%-24s %9zu %9zu %10.1f %7.0fx%.0f\n", name, graph.nodes.size(),
                        graph.edges.size(), best, static_cast<double>(bounds.width),
                        static_cast<double>(bounds.height));
        }
    }
    return 0;
}
