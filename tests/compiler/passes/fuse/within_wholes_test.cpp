// SPDX-License-Identifier: Apache-2.0
// Parts of concatenations of several images: which have a place in the whole, and what steps their
// kernels then take.
#include "compiler/passes/fuse/within_wholes.h"
#include "compiler/passes/pass.h"
#include "core/ir/graph_text.h"
#include "core/ir/tir/text.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

/// Lowered without optimization, where every operator is a call.
Module lowered(const std::string& body, const std::string& shape = "(2, 16, 3, 3)")
{
    auto module = parseModule("def @main(%x: Tensor[" + shape + ", float32]) {\n" + body + "}\n");
    CHECK(module) << module.error().text();
    PassContext context;
    context.optLevel = 0;
    const Result<PassTrace> trace = runPasses(*module, context, {});
    CHECK(trace) << trace.error().text();
    return trace->last();
}

bool isCallOf(const Module& module, const NodeRecord& node, const std::string& op)
{
    return node.kind == NodeKind::CallTir && node.callee.isValid() &&
           module.function(node.callee).name.find(op) != std::string::npos;
}

const NodeRecord& callNamed(const Module& module, const std::string& op)
{
    for (const NodeId id : module.main().order) {
        const NodeRecord& node = module.node(id);
        if (isCallOf(module, node, op)) return node;
    }
    CHECK(false) << "no call of " << op;
    std::abort();
}

int64_t piecesOf(const Module& module)
{
    return callNamed(module, "concatenate").attrs.integer(kPiecesAttr, 0);
}

std::string kernelText(const Module& module, const std::string& op)
{
    return tir::print(*module.kernels().at(callNamed(module, op).kernel));
}

TEST(WithinWholes, KernelsOfPartsStepAsTheWholeDoes)
{
    const Module placed = withinWholes(lowered("  %a = nn.relu(%x)\n  %b = sigmoid(%x)\n"
                                               "  %c = concatenate(%a, %b, axis=1)\n"
                                               "  %d = exp(%c)\n  %e = tanh(%a)\n"
                                               "  return %d, %e\n"));
    EXPECT_EQ(piecesOf(placed), 2);
    for (const char* op : {"relu", "sigmoid", "tanh"}) { // what makes a part, and what reads one
        EXPECT_NE(kernelText(placed, op).find("strides=(288, 9, 3, 1)"), std::string::npos) << op;
        EXPECT_TRUE(callNamed(placed, op).attrs.has(kWithinWholeAttr));
    }
    EXPECT_EQ(kernelText(placed, "exp").find("strides"), std::string::npos);
}

TEST(WithinWholes, AWholeLiesInAnother)
{
    const Module placed = withinWholes(lowered("  %a = nn.relu(%x)\n  %b = sigmoid(%x)\n"
                                               "  %c = concatenate(%a, %b, axis=1)\n"
                                               "  %d = exp(%c)\n"
                                               "  %e = concatenate(%c, %d, axis=1)\n"
                                               "  %f = tanh(%e)\n  return %f\n"));
    for (const char* op : {"relu", "sigmoid", "exp"})
        EXPECT_NE(kernelText(placed, op).find("strides=(576, 9, 3, 1)"), std::string::npos) << op;
}

TEST(WithinWholes, WhatHasNoPlaceIsCopied)
{
    const std::string made = "  %a = nn.relu(%x)\n  %b = sigmoid(%x)\n";
    for (const auto& [body, shape] :
         {std::pair("  %c = concatenate(%a, %x, axis=1)\n  %d = exp(%c)\n  return %d\n",
                    "(2, 16, 3, 3)"), // an input
          std::pair("  %c = concatenate(%a, %b, axis=1)\n  %d = exp(%c)\n  return %d, %a\n",
                    "(2, 16, 3, 3)"), // an output
          std::pair("  %c = concatenate(%a, %a, axis=1)\n  %d = exp(%c)\n  return %d\n",
                    "(2, 16, 3, 3)"), // twice
          std::pair("  %c = concatenate(%a, %b, axis=1)\n  %v = reshape(%a, newshape=[288])\n"
                    "  return %c, %v\n",
                    "(2, 16, 3, 3)"), // seen in another shape
          std::pair("  %c = concatenate(%a, %b, axis=1)\n  return %c\n",
                    "(2, 5, 3, 3)"), // 180 bytes each
          std::pair("  %c = concatenate(%a, %b, axis=0)\n  return %c\n",
                    "(2, 16, 3, 3)"), // one after the other: views are enough
          std::pair("  %c = concatenate(%a, %b, axis=1)\n  return %c\n", "(1, 16, 3, 3)")}) {
        const Module before = lowered(made + body, shape);
        const Module after = withinWholes(before);
        EXPECT_EQ(piecesOf(after), 0) << body;
        EXPECT_EQ(printModule(after), printModule(before)) << body;
    }
}

TEST(WithinWholes, ATensorHasOnePlace)
{
    const Module placed = withinWholes(lowered("  %a = nn.relu(%x)\n  %b = sigmoid(%x)\n"
                                               "  %c = concatenate(%a, %b, axis=1)\n"
                                               "  %d = exp(%x)\n"
                                               "  %e = concatenate(%a, %d, axis=1)\n"
                                               "  %f = add(%c, %e)\n  return %f\n"));
    int places = 0, copies = 0;
    for (const NodeId id : placed.main().order) {
        const NodeRecord& node = placed.node(id);
        if (!isCallOf(placed, node, "concatenate")) continue;
        (node.attrs.integer(kPiecesAttr, 0) == 2 ? places : copies) += 1;
    }
    EXPECT_EQ(places, 1);
    EXPECT_EQ(copies, 1);
}

} // namespace
} // namespace tenon::compiler
