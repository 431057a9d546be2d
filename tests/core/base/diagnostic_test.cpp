// SPDX-License-Identifier: Apache-2.0
// Diagnostics, results and CHECK: the three kinds of error keep apart.
#include "core/base/diagnostic.h"
#include "core/base/hash.h"
#include "core/base/result.h"

#include <gtest/gtest.h>

#include <set>

namespace tenon::core {
namespace {

TEST(Diagnostic, printsOneLineWithPlaceAndItsNotesBelow)
{
    Diagnostic error = makeError(DiagnosticCode::ShapeMismatch, "expects 64 channels but has 3",
                                 {.node = "conv1", .op = "Conv"});
    EXPECT_EQ(error.text(),
              "error[shape-mismatch]: expects 64 channels but has 3 at node 'conv1' (Conv)");
    error.notes.push_back({Severity::Note,
                           DiagnosticCode::ShapeMismatch,
                           "it comes from here",
                           {.node = "input"},
                           {}});
    EXPECT_EQ(error.text(),
              "error[shape-mismatch]: expects 64 channels but has 3 at node 'conv1' (Conv)\n"
              "  note[shape-mismatch]: it comes from here at node 'input'");
}

TEST(Diagnostic, hasADifferentTextForEachCode)
{
    std::set<std::string_view> seen;
    size_t count = 0;
#define DIAGNOSTIC(name, text)                                                                     \
    ++count;                                                                                       \
    seen.insert(codeText(DiagnosticCode::name));
#include "core/base/diagnostics.def"
#undef DIAGNOSTIC
    EXPECT_EQ(seen.size(), count);
}

TEST(Diagnostic, tellsErrorsFromWarnings)
{
    EXPECT_FALSE(hasErrors({makeWarning(DiagnosticCode::BadModel, "odd")}));
    EXPECT_TRUE(hasErrors({makeWarning(DiagnosticCode::BadModel, "odd"),
                           makeError(DiagnosticCode::BadModel, "bad")}));
}

TEST(Result, holdsAValueOrAnError)
{
    const Result<int> good = 7;
    ASSERT_TRUE(good);
    EXPECT_EQ(*good, 7);
    const Result<int> bad = makeError(DiagnosticCode::TimedOut, "took too long");
    ASSERT_FALSE(bad);
    EXPECT_EQ(bad.error().code, DiagnosticCode::TimedOut);
    EXPECT_THROW(static_cast<void>(bad.value()), InternalError);
}

TEST(Check, saysConditionPlaceAndValues)
{
    try {
        CHECK(1 + 1 == 3) << "got " << 2;
        FAIL() << "CHECK did not throw";
    } catch (const InternalError& bug) {
        const std::string text = bug.what();
        EXPECT_NE(text.find("1 + 1 == 3"), std::string::npos) << text;
        EXPECT_NE(text.find("diagnostic_test.cpp"), std::string::npos) << text;
        EXPECT_NE(text.find("got 2"), std::string::npos) << text;
    }
}

TEST(Hash, keepsPartsApartAndIsStable)
{
    EXPECT_NE(Hasher().add("ab").add("c").finish(), Hasher().add("a").add("bc").finish());
    EXPECT_NE(hashBytes(""), hashBytes(std::string_view("\0", 1)));
    EXPECT_EQ(hashBytes("tenon"), hashBytes("tenon"));
    EXPECT_EQ(hashBytes("tenon").hex().size(), 32u);
    std::set<std::string> seen;
    for (uint64_t i = 0; i < 10000; ++i) seen.insert(Hasher().add(i).finish().hex());
    EXPECT_EQ(seen.size(), 10000u);
}

} // namespace
} // namespace tenon::core
