// SPDX-License-Identifier: Apache-2.0
// Operators of thousands of operands or results, and products of many factors, are taken apart.
#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "tests/compiler/frontend/model_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace tenon::test {
namespace {

using namespace tenon::compiler;

Loaded imported(const std::string& text)
{
    const std::string bytes = modelOf(text).SerializeAsString();
    auto loaded = loadOnnxBytes(std::as_bytes(std::span(bytes)), nullptr, ".", "model.onnx", {});
    CHECK(loaded) << loaded.error().text();
    return std::move(*loaded);
}

/// Elements 0, 1, 2, ...
Tensor counting(const TensorType& type)
{
    return Tensor::make(type.dtype, *constantShape(type.shape), [&](std::span<std::byte> bytes) {
        for (int64_t i = 0; i < type.bytes() / type.dtype.bytes(); ++i)
            storeNumber(type.dtype, bytes, i, static_cast<double>(i));
    });
}

std::vector<Tensor> evaluated(const Loaded& loaded)
{
    std::map<std::string, Tensor> inputs;
    for (const NodeId id : loaded.module.main().params) {
        const NodeRecord& node = loaded.module.node(id);
        inputs[node.name] = counting(node.types[0]);
    }
    auto results = evaluateGraph(loaded.module, inputs, JobContext());
    CHECK(results) << results.error().text();
    return *results;
}

/// The most operands and results that a node has.
size_t widest(const Loaded& loaded)
{
    size_t most = 0;
    for (const NodeId id : loaded.module.main().order) {
        const NodeRecord& node = loaded.module.node(id);
        most = std::max({most, node.operands.size(), node.resultCount()});
    }
    return most;
}

TEST(ManyOperands, AreJoinedInGroups)
{
    for (const int count : {2, 48, 49, 97, 3000}) {
        std::string names = "x";
        for (int i = 1; i < count; ++i) names += i % 3 == 0 ? ",x" : ",w";
        const Loaded loaded = imported("input x float32 2,1\ninput w float32 2,2\nnode Concat c " +
                                       names + " -> y axis=1\noutput y float32 *\n");
        EXPECT_LE(widest(loaded), 48u) << count;
        const Tensor y = evaluated(loaded)[0];
        int64_t column = 0;
        for (int i = 0; i < count; ++i) {
            const bool isX = i % 3 == 0;
            EXPECT_EQ(y.number(column), 0);
            EXPECT_EQ(y.number(y.shape()[1] + column), isX ? 1 : 2);
            column += isX ? 1 : 2;
        }
        EXPECT_EQ(y.shape()[1], column);
    }
}

TEST(ManyResults, AreCutOutInGroups)
{
    for (const int count : {2, 48, 49, 97, 3000}) {
        std::string names, outputs;
        for (int i = 0; i < count; ++i) {
            const std::string name = "y" + std::to_string(i);
            names += (i == 0 ? "" : ",") + name;
            outputs += "output " + name + " float32 *\n";
        }
        const Loaded loaded = imported("input x float32 " + std::to_string(2 * count) +
                                       "\nnode Split s x -> " + names + " axis=0\n" + outputs);
        EXPECT_LE(widest(loaded), 48u) << count;
        const std::vector<Tensor> results = evaluated(loaded);
        ASSERT_EQ(results.size(), static_cast<size_t>(count));
        for (size_t i = 0; i < results.size(); ++i)
            EXPECT_EQ(results[i].numbers(),
                      (std::vector<double>{2.0 * static_cast<double>(i),
                                           2.0 * static_cast<double>(i) + 1}));
    }
}

TEST(ManyFactors, AreMultipliedTwoAtATime)
{
    // The cheapest order ends in a vector of 2: from the right, never 40 x 40 x 40 products.
    const Loaded loaded =
        imported("input a float32 2,40\ninput b float32 40,40\ninput c float32 40,40\n"
                 "input d float32 40,3\ninput e float32 3,40\ninput f float32 40\n"
                 "node Einsum e a,b,c,d,e,f -> y equation=\"ab,bc,cd,de,ef,f->a\"\n"
                 "output y float32 2\n");
    size_t products = 0;
    for (const NodeId id : loaded.module.main().order) {
        const NodeRecord& node = loaded.module.node(id);
        EXPECT_NE(node.op, "einsum");
        if (node.op != "nn.matmul") continue;
        ++products;
        EXPECT_LE(node.types[0].shape.size(), 2u);
    }
    EXPECT_EQ(products, 5u);
    const Loaded small =
        imported("input a float32 2,2\ninput b float32 2,2\ninput c float32 2,2\n"
                 "node Einsum e a,b,c -> y equation=\"ij,jk,kl->li\"\noutput y float32 2,2\n");
    EXPECT_EQ(evaluated(small)[0].numbers(), (std::vector<double>{6, 22, 11, 39}));
    const Loaded batched =
        imported("input a float32 2,1,2\ninput b float32 2,2\ninput c float32 2\n"
                 "node Einsum e a,b,c -> y equation=\"...ij,jk,k->...i\"\noutput y float32 2,1\n");
    EXPECT_EQ(evaluated(batched)[0].numbers(), (std::vector<double>{3, 11}));
}

/// The sum of products that an equation of two explicit terms stands for, by its definition.
std::vector<double> productByDefinition(const std::string& a, const std::string& b,
                                        const std::string& result,
                                        const std::map<char, int64_t>& sizes)
{
    std::string letters = result;
    for (const char letter : a + b)
        if (letters.find(letter) == std::string::npos) letters += letter;
    int64_t count = 1, all = 1;
    for (size_t i = 0; i < letters.size(); ++i) {
        all *= sizes.at(letters[i]);
        if (i < result.size()) count *= sizes.at(letters[i]);
    }
    std::vector<double> out(static_cast<size_t>(count));
    for (int64_t step = 0; step < all; ++step) {
        std::map<char, int64_t> at;
        int64_t rest = step;
        for (size_t i = letters.size(); i-- > 0; rest /= sizes.at(letters[i]))
            at[letters[i]] = rest % sizes.at(letters[i]);
        const auto place = [&](const std::string& term) {
            int64_t index = 0;
            for (const char letter : term) index = index * sizes.at(letter) + at[letter];
            return index; // also the element there
        };
        out[static_cast<size_t>(place(result))] +=
            static_cast<double>(place(a)) * static_cast<double>(place(b));
    }
    return out;
}

TEST(ManyOperands, ProductsOfTwoAreThoseOfMatrices)
{
    const std::map<char, int64_t> sizes{{'b', 2}, {'h', 3}, {'q', 4}, {'k', 5}, {'d', 2}, {'i', 3}};
    const char* equations[][3] = {{"bqhd", "bkhd", "bhqk"}, {"bhqk", "bkhd", "bqhd"},
                                  {"bij", "bjk", "ki"},     {"qd", "dk", "kq"},
                                  {"d", "d", ""},           {"qdi", "kd", "kq"},
                                  {"ib", "bi", "bi"},       {"q", "k", "kq"}};
    std::map<char, int64_t> all = sizes;
    all['j'] = 4;
    for (const auto& [a, b, result] : equations) {
        const auto shapeOf = [&](const std::string& term) {
            std::string text;
            for (const char letter : term)
                text += (text.empty() ? "" : ",") + std::to_string(all.at(letter));
            return text;
        };
        const std::string equation = std::string(a) + "," + b + "->" + result;
        const Loaded loaded = imported("input a float32 " + shapeOf(a) + "\ninput b float32 " +
                                       shapeOf(b) + "\nnode Einsum e a,b -> y equation=\"" +
                                       equation + "\"\noutput y float32 " + shapeOf(result) + "\n");
        EXPECT_EQ(evaluated(loaded)[0].numbers(), productByDefinition(a, b, result, all))
            << equation;
    }
}

TEST(ManyOperands, ProductsOfOpenSizesAreThoseOfMatrices)
{
    const auto opsOf = [](const std::string& equation, const std::string& b) {
        const Loaded loaded = imported("input a float32 n,t,2,4\ninput b float32 " + b +
                                       "\nnode Einsum e a,b -> y equation=\"" + equation +
                                       "\"\noutput y float32 *\n");
        std::set<std::string> ops;
        for (const NodeId id : loaded.module.main().order) ops.insert(loaded.module.node(id).op);
        return ops;
    };
    EXPECT_TRUE(opsOf("bihd,bjhd->bhij", "n,t,2,4").contains("nn.matmul"));
    EXPECT_TRUE(opsOf("bihd,bihe->bhde", "n,t,2,7").contains("nn.matmul"));
    // One of the sizes may turn out to be 1, and be repeated.
    EXPECT_TRUE(opsOf("bihd,bihe->bhde", "n,m,2,7").contains("einsum"));
    EXPECT_TRUE(opsOf("bihd,bjhd->bhij", "m,t,2,4").contains("einsum"));
}

} // namespace
} // namespace tenon::test
