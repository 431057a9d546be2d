// SPDX-License-Identifier: Apache-2.0
// What a build takes where a model leaves sizes open, and what it asks for.
#include "compiler/frontend/load_model.h"
#include "compiler/frontend/open_sizes.h"
#include "core/ir/size_bounds.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <fstream>

namespace tenon::compiler {
namespace {

class OpenSizes : public testing::Test
{
protected:
    std::string write(const tenon_onnx::ModelProto& model)
    {
        const std::string path = m_folder.file("model.onnx");
        std::ofstream(path, std::ios::binary) << model.SerializeAsString();
        return path;
    }
    std::string write(const std::string& text) { return write(test::modelOf(text)); }
    static std::string inputOf(const Loaded& loaded)
    {
        return loaded.module.node(loaded.module.main().params.at(0)).types.at(0).text();
    }

    test::TemporaryFolder m_folder;
};

TEST_F(OpenSizes, GivesWhatStandsForNoNameASizeOfItsOwn)
{
    auto model = test::modelOf("input x float32 None,3,q,unk__7\nnode Relu r x -> y\n"
                               "output y float32 *\n");
    auto& shape = *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
    shape.mutable_shape()->mutable_dim(2)->set_dim_param("?");
    const auto loaded = loadModel(write(model), {});
    ASSERT_TRUE(loaded) << loaded.error().text();
    EXPECT_EQ(inputOf(*loaded), "Tensor[(x_d0, 3, x_d2, unk__7), float32]");
}

TEST_F(OpenSizes, TakesABatchThatNobodyBoundAsOne)
{
    const std::string path =
        write("input x float32 n,3\ninput s float32 2,n\nnode Transpose t s -> st\n"
              "node Concat c x,st -> y axis=1\noutput y float32 *\n");
    const auto loaded = loadForBuild(path, {});
    ASSERT_TRUE(loaded) << loaded.error().text();
    EXPECT_EQ(inputOf(*loaded), "Tensor[(1, 3), float32]");
    ASSERT_FALSE(loaded->diagnostics.empty());
    EXPECT_EQ(loaded->diagnostics[0].message,
              "the batch `n` of input `x` is open and was taken as 1; --shape n=8 takes another, "
              "--shape n=1..8 keeps it open");
    ImportOptions four;
    four.shapes["n"] = {4};
    EXPECT_EQ(inputOf(*loadForBuild(path, four)), "Tensor[(4, 3), float32]");
    ImportOptions some;
    some.bounds["n"] = {{1, 4}};
    EXPECT_EQ(inputOf(*loadForBuild(path, some)), "Tensor[(n, 3), float32]");
}

TEST_F(OpenSizes, KeepsOtherSizesOpen)
{
    const std::string path = write("input x float32 n,t\nnode Relu r x -> y\noutput y float32 *\n");
    EXPECT_EQ(inputOf(*loadForBuild(path, {})), "Tensor[(n, t), float32]");
    const std::string list = write("input x float32 length\nnode Relu r x -> y\n"
                                   "output y float32 *\n");
    EXPECT_EQ(inputOf(*loadForBuild(list, {})), "Tensor[(length,), float32]");
}

TEST_F(OpenSizes, NarrowsBoundsToSizesThatFit)
{
    const std::string doubled = "input x int64 h\nnode Concat c x,x -> xx axis=0\n";
    const auto bounded = [&](const std::string& text, DimBounds bounds) {
        ImportOptions options;
        options.bounds["h"] = {bounds};
        auto loaded = loadForBuild(write(text), options);
        CHECK(loaded) << loaded.error().text();
        return *std::move(loaded);
    };
    const std::string six =
        "ints k int64 6 = 0,1,2,3,4,5\nnode Add a xx,k -> y\noutput y int64 *\n";
    const Loaded one = bounded(doubled + six, {1, 8});
    ASSERT_EQ(one.diagnostics.size(), 1u);
    EXPECT_EQ(one.diagnostics[0].text(),
              "warning[dynamic-shape]: `h` can be 3 of 1..8 only, as 2*h and 6 of axis 0 must be "
              "equal; --shape h=3 says so at node 'a' (add)");
    EXPECT_EQ(boundsOf(one.module.main()), (SizeBounds{{"h", {3, 3}}}));

    const std::string fours = "ints k int64 2 = -1,4\nnode Reshape r x,k -> y\noutput y int64 *\n";
    const Loaded steps = bounded(doubled + fours, {1, 9});
    ASSERT_EQ(steps.diagnostics.size(), 1u);
    EXPECT_EQ(steps.diagnostics[0].message,
              "`h` can be 4 to 8 in steps of 4 of 1..9 only, as h and 4*(h // 4) must be equal; "
              "--shape h=4..8 says so");
    EXPECT_EQ(boundsOf(steps.module.main()), (SizeBounds{{"h", {4, 8}}}));
    EXPECT_EQ(bounded(doubled + fours, {4, 8}).diagnostics.at(0).message,
              "`h` can be 4 to 8 in steps of 4 of 4..8 only, as h and 4*(h // 4) must be equal; "
              "other sizes end the run");

    const Loaded none = bounded(doubled + six, {4, 8});
    ASSERT_TRUE(hasErrors(none.diagnostics));
    EXPECT_EQ(none.diagnostics[0].message,
              "no size of `h` within 4..8 fits: 2*h and 6 of axis 0 must be equal; give other "
              "bounds");
    EXPECT_TRUE(bounded(doubled + "output xx int64 *\n", {1, 8}).diagnostics.empty());
}

TEST_F(OpenSizes, ProposesAllThatIsOpenAtOnce)
{
    const std::string path =
        write("input x float32 batch,t\ninput sr int64 ()\nints k int64 () = 16000\n"
              "ints a int64 1 = 0\nnode Equal e sr,k -> c\n"
              "graph then\nnode Relu r x -> p\noutput p float32 *\nend\n"
              "graph else\nnode Unsqueeze u x,a -> q\noutput q float32 *\nend\n"
              "node If choice c -> y then_branch=g:then else_branch=g:else\noutput y float32 *\n");
    const auto loaded = loadForBuild(path, {});
    ASSERT_TRUE(loaded) << loaded.error().text();
    EXPECT_EQ(loaded->neededValues, std::vector<std::string>{"sr"});
    EXPECT_EQ(proposedBindings(path, *loaded, {}), "--shape x=1,128 --value sr=16000");
    // The field of the window takes the value in the line of the sizes.
    ImportOptions line;
    line.shapes = {{"x", {1, 128}}, {"sr", {8000}}};
    const auto bound = loadForBuild(path, line);
    ASSERT_TRUE(bound) << bound.error().text();
    EXPECT_FALSE(hasErrors(bound->diagnostics));
    EXPECT_FALSE(hasUnboundSizes(bound->module));
}

} // namespace
} // namespace tenon::compiler
