// SPDX-License-Identifier: Apache-2.0
// Hashes of modules: the same for the same network, another for another.
#include "core/ir/graph_text.h"
#include "core/ir/module_hash.h"

#include <gtest/gtest.h>

namespace tenon::core {
namespace {

std::string hashOf(const std::string& op, const std::string& shape, const std::string& weight)
{
    const std::string type = " : Tensor[" + shape + ", float32]\n";
    const auto module =
        parseModule("def @main(%x: Tensor[" + shape + ", float32]) {\n  %w = " + weight + type +
                    "  %a = " + op + "(%x, %w)" + type + "  return %a\n}\n");
    EXPECT_TRUE(module) << module.error().message;
    return module ? moduleHash(*module) : std::string();
}

TEST(ModuleHash, tellsNetworksApartAndNotTheirTrainings)
{
    const std::string one = hashOf("add", "(64,)", "rand(1)");
    EXPECT_EQ(one.size(), 32u);
    EXPECT_EQ(one, hashOf("add", "(64,)", "rand(1)"));
    EXPECT_EQ(one, hashOf("add", "(64,)", "rand(2)"));
    EXPECT_NE(one, hashOf("multiply", "(64,)", "rand(1)"));
    EXPECT_NE(one, hashOf("add", "(65,)", "rand(1)"));
}

} // namespace
} // namespace tenon::core
