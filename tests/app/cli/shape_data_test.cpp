// SPDX-License-Identifier: Apache-2.0
// Operators whose sizes, lengths or axes are data, or open dimensions: the numbers are those of the
// same model with these known, and what makes no sense is refused with the node's name.
#include "core/base/text.h"
#include "tests/app/cli/program.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace tenon::cli {
namespace {

/// Small integers as they are; the others between -0.5 and 0.5.
struct Input
{
    std::string name;
    std::vector<int64_t> shape;
    std::vector<int64_t> whole; ///< int64; empty: seeded floats
    std::vector<float> real;
};

struct Case
{
    const char* name;
    std::string model; ///< without the opset
    std::vector<Input> inputs;
    std::string shapes; ///< binds open dimensions; empty: the whole inputs are fixed instead
};

std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }

tenon_onnx::TensorProto tensorOf(const Input& input)
{
    tenon_onnx::TensorProto tensor;
    tensor.set_name(input.name);
    int64_t count = 1;
    for (const int64_t dim : input.shape) {
        tensor.add_dims(dim);
        count *= dim;
    }
    const bool isWhole = !input.whole.empty();
    tensor.set_data_type(isWhole ? tenon_onnx::TensorProto::INT64 : tenon_onnx::TensorProto::FLOAT);
    uint64_t state = 7 + static_cast<uint64_t>(count);
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
        state = state * 6364136223846793005ull + 1442695040888963407ull;
        if (isWhole)
            tensor.add_int64_data(input.whole[i]);
        else
            tensor.add_float_data(!input.real.empty()
                                      ? input.real[i]
                                      : static_cast<float>(state >> 40) / (1 << 24) - 0.5f);
    }
    return tensor;
}

class ShapeData : public ::testing::TestWithParam<Case>
{
protected:
    void write(const std::string& name, const std::string& content)
    {
        const std::filesystem::path path = m_folder.file(name);
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << content;
    }
    /// Runs the model on the inputs that are not fixed.
    Outcome run(const Case& one, bool isFixed)
    {
        write("m.onnx", test::modelOf("opset 20\n" + one.model).SerializeAsString());
        std::string options, files;
        for (const Input& input : one.inputs) {
            const bool isValue =
                one.shapes.empty() && (!input.whole.empty() || !input.real.empty());
            if (isFixed && isValue) {
                options += " --value " + input.name + "=";
                for (size_t i = 0; i < input.whole.size(); ++i)
                    options += (i ? "," : "") + std::to_string(input.whole[i]);
                for (const float value : input.real) options += std::to_string(value);
                continue;
            }
            write(input.name + ".pb", tensorOf(input).SerializeAsString());
            files += " '" + m_folder.file(input.name + ".pb") + "'";
        }
        if (isFixed) options += one.shapes;
        if (!files.empty()) options += " --inputs" + files;
        return tenon("run '" + m_folder.file("m.onnx") + "'" + options + " --outputs '" +
                     m_folder.file(isFixed ? "fixed" : "open") + "' 2>&1");
    }
    std::vector<float> output(const std::string& folder, std::vector<int64_t>& shape) const
    {
        tenon_onnx::TensorProto tensor;
        std::ifstream file(m_folder.file(folder + "/output_0.pb"), std::ios::binary);
        EXPECT_TRUE(tensor.ParseFromIstream(&file));
        shape.assign(tensor.dims().begin(), tensor.dims().end());
        std::vector<float> values(tensor.raw_data().size() / sizeof(float));
        std::memcpy(values.data(), tensor.raw_data().data(), values.size() * sizeof(float));
        return values;
    }
    test::TemporaryFolder m_folder;
};

using SameNumbers = ShapeData;

TEST_P(SameNumbers, AsWithTheValuesKnown)
{
    const Outcome fixed = run(GetParam(), true);
    ASSERT_EQ(fixed.code, 0) << fixed.output;
    const Outcome open = run(GetParam(), false);
    ASSERT_EQ(open.code, 0) << open.output;
    std::vector<int64_t> shape, wantedShape;
    const std::vector<float> got = output("open", shape), wanted = output("fixed", wantedShape);
    EXPECT_EQ(shape, wantedShape);
    ASSERT_EQ(got.size(), wanted.size());
    ASSERT_FALSE(got.empty());
    for (size_t i = 0; i < got.size(); ++i)
        EXPECT_NEAR(got[i], wanted[i], 1e-5 * (1 + std::abs(wanted[i]))) << "element " << i;
}

const std::string kGrid = "input t float32 2,2,3\ninput s int64 4\nnode AffineGrid n t,s -> y ";
const std::string kCrop = "input x float32 3,4,5\ninput s int64 2\nnode CenterCropPad n x,s -> y ";
const std::string kImage = "input x float32 2,12,15\ninput s int64 2\ninput b int64 2\n"
                           "node Col2Im n x,s,b -> y ";
const std::string kAxis = "input x float32 2,5,6,1\ninput a int64 ()\nnode DFT n x,_,a -> y ";
const std::string kLength = "input x float32 2,5,6,2\ninput l int64 ()\ninput a int64 1\n"
                            "node DFT n x,l,a -> y ";
const std::string kFrames = "input x float32 2,40,1\ninput step int64 ()\ninput w float32 6\n"
                            "input l int64 ()\nnode STFT n x,step,w,l -> y ";
const std::string kMel = "input b int64 ()\ninput l int64 ()\ninput r int64 ()\n"
                         "input low float32 ()\ninput high float32 ()\n"
                         "node MelWeightMatrix n b,l,r,low,high -> y\noutput y float32 p,q\n";
const std::string kPicture = "input x float32 n,2,h,v\nfloats s float32 4 = 1,1,";
const std::string kOut3 = "\noutput y float32 a,b,c\n", kOut4 = "\noutput y float32 a,b,c,d\n";
const Input kSeen{"x", {2, 2, 5, 6}, {}, {}};
const std::string kBound = " --shape x=2,2,5,6";

INSTANTIATE_TEST_SUITE_P(
    All, SameNumbers,
    ::testing::Values(
        Case{"grid", kGrid + kOut4, {{"t", {2, 2, 3}, {}, {}}, {"s", {4}, {2, 3, 4, 5}, {}}}, ""},
        Case{"aligned",
             kGrid + "align_corners=1" + kOut4,
             {{"t", {2, 2, 3}, {}, {}}, {"s", {4}, {2, 3, 1, 5}, {}}},
             ""},
        Case{"crop",
             kCrop + "axes=[0,2]" + kOut3,
             {{"x", {3, 4, 5}, {}, {}}, {"s", {2}, {6, 2}, {}}},
             ""},
        Case{"blocks",
             kImage + "pads=[1,0,1,2] strides=[2,1] dilations=[1,2]" + kOut4,
             {{"x", {2, 12, 15}, {}, {}}, {"s", {2}, {4, 5}, {}}, {"b", {2}, {2, 2}, {}}},
             ""},
        Case{"unpool",
             "input x float32 1,1,2,2\ninput s int64 4\ninput i int64 1,1,2,2\n"
             "node MaxUnpool n x,i,s -> y kernel_shape=[2,2] strides=[2,2]" +
                 kOut4,
             {{"x", {1, 1, 2, 2}, {}, {}},
              {"s", {4}, {1, 1, 5, 6}, {}},
              {"i", {1, 1, 2, 2}, {0, 7, 9, 15}, {}}},
             ""},
        Case{"axis",
             kAxis + "onesided=1" + kOut4,
             {{"x", {2, 5, 6, 1}, {}, {}}, {"a", {}, {-2}, {}}},
             ""},
        Case{"inverse",
             kLength + "inverse=1" + kOut4,
             {{"x", {2, 5, 6, 2}, {}, {}}, {"l", {}, {4}, {}}, {"a", {1}, {1}, {}}},
             ""},
        Case{"onesided_inverse",
             kLength + "inverse=1 onesided=1" + kOut4,
             {{"x", {2, 5, 6, 2}, {}, {}}, {"l", {}, {8}, {}}, {"a", {1}, {2}, {}}},
             ""},
        Case{"frames",
             kFrames + kOut4,
             {{"x", {2, 40, 1}, {}, {}},
              {"step", {}, {3}, {}},
              {"w", {6}, {}, {}},
              {"l", {}, {8}, {}}},
             ""},
        Case{"mel",
             kMel,
             {{"b", {}, {8}, {}},
              {"l", {}, {64}, {}},
              {"r", {}, {8000}, {}},
              {"low", {}, {}, {20.0f}},
              {"high", {}, {}, {3500.0f}}},
             ""},
        Case{"open_signal",
             "input x float32 n,t,1\nints s int64 () = 4\nints l int64 () = 8\n"
             "node STFT n x,s,_,l -> y\noutput y float32 a,b,c,d\n",
             {{"x", {2, 21, 1}, {}, {}}},
             " --shape x=2,21,1"},
        Case{"nearest", kPicture + "2,3\nnode Resize n x,_,s -> y" + kOut4, {kSeen}, kBound},
        Case{"linear",
             kPicture + "2,0.5\nnode Resize n x,_,s -> y mode=\"linear\"" + kOut4,
             {kSeen},
             kBound},
        Case{"cubic",
             kPicture +
                 "1.3,2\nnode Resize n x,_,s -> y mode=\"cubic\" "
                 "coordinate_transformation_mode=\"align_corners\"" +
                 kOut4,
             {kSeen},
             kBound},
        Case{"antialias",
             kPicture + "0.6,0.5\nnode Resize n x,_,s -> y mode=\"linear\" antialias=1" + kOut4,
             {kSeen},
             kBound},
        Case{"batch",
             "input x float32 n,2,5,6\nfloats s float32 4 = 1,1,2,3\n"
             "node Resize n x,_,s -> y mode=\"cubic\"" +
                 kOut4,
             {kSeen},
             kBound},
        Case{"like", // sizes that are another value's, and a sum that knows it
             "input x float32 n,2,h,v\ninput z float32 n,2,p,q\nnode Shape m z -> s\n"
             "node Resize n x,_,_,s -> r mode=\"linear\"\nnode Add o r,z -> y" +
                 kOut4,
             {kSeen, {"z", {2, 2, 7, 4}, {}, {}}},
             kBound + " --shape z=2,2,7,4"},
        Case{"skip", // twice the half is no longer the size, but of even sizes it runs
             "input x float32 n,2,h,v\nfloats s float32 4 = 1,1,2,2\n"
             "node MaxPool p x -> d kernel_shape=[2,2] strides=[2,2]\n"
             "node Resize n d,_,s -> u mode=\"nearest\"\nnode Add o u,x -> y" +
                 kOut4,
             {{"x", {1, 2, 4, 6}, {}, {}}},
             " --shape x=1,2,4,6"},
        Case{
            "attention_by_letters", // of the last product the sizes of t and m may differ
            "input q float32 n,t,2,4\ninput k float32 n,t,2,4\ninput v float32 n,m,2,3\n"
            "node Einsum a q,k -> s equation=\"bihd,bjhd->bhij\"\n"
            "node Einsum b s,v -> o equation=\"bhij,bjhd->bihd\"\n"
            "floats w float32 2,3,2 = 1,2,-1,3,0.5,1,2,-2,1,0.25,-3,1\n"
            "node Einsum c o,w -> p equation=\"bihd,hde->bie\"\n"
            "node Einsum d p,q -> y equation=\"bie,bjhd->hdej\"" +
                kOut4,
            {{"q", {2, 5, 2, 4}, {}, {}}, {"k", {2, 5, 2, 4}, {}, {}}, {"v", {2, 5, 2, 3}, {}, {}}},
            " --shape n=2,t=5,m=5"},
        Case{"reductions",
             "input x float32 n,3,h,v\nints one int64 1 = 1\nnode ReduceMax a x,one -> b\n"
             "ints two int64 2 = 2,3\nnode ReduceMean c x,two -> d\nnode Add e b,d -> y" +
                 kOut4,
             {{"x", {2, 3, 7, 13}, {}, {}}},
             " --shape n=2,h=7,v=13"},
        Case{"determinants",
             "input x float32 n,3,3\nnode Det n x -> y\noutput y float32 n\n",
             {{"x", {4, 3, 3}, {}, {}}},
             " --shape n=4"},
        Case{
            "quantized_picture",
            "input x float32 n,3,h,v\nfloats s float32 () = 0.02\nints z uint8 () = 128\n"
            "floats q float32 () = 0.05\n"
            "node QuantizeLinear a x,s,z -> b\nnode DequantizeLinear c b,s,z -> d\n"
            "ints w int8 2,3,2,2 = 1,-2,3,-4,5,-6,7,-8,9,-10,11,-12,12,11,-10,9,8,-7,6,5,-4,3,2,1\n"
            "ints o int8 () = 0\n"
            "node DequantizeLinear e w,s,o -> f\nnode Conv g d,f -> h1 pads=[1,1,0,0]\n"
            "node QuantizeLinear i h1,q,z -> j\nnode DequantizeLinear n j,q,z -> y" +
                kOut4,
            {{"x", {2, 3, 5, 6}, {}, {}}},
            " --shape x=2,3,5,6"}),
    [](const auto& tested) { return std::string(tested.param.name); });

using BadData = ShapeData;

TEST_P(BadData, IsRefusedWithTheNodesName)
{
    const Outcome outcome = run(GetParam(), false);
    EXPECT_NE(outcome.code, 0) << outcome.output;
    EXPECT_NE(outcome.output.find("`n`"), std::string::npos) << outcome.output;
    EXPECT_EQ(outcome.output.find("signal"), std::string::npos) << outcome.output;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadData,
    ::testing::Values(
        Case{"grid_of_another_batch",
             kGrid + kOut4,
             {{"t", {2, 2, 3}, {}, {}}, {"s", {4}, {3, 3, 4, 5}, {}}},
             ""},
        Case{"negative_crop",
             kCrop + "axes=[0,2]" + kOut3,
             {{"x", {3, 4, 5}, {}, {}}, {"s", {2}, {6, -2}, {}}},
             ""},
        Case{"columns_that_are_no_blocks",
             kImage + kOut4,
             {{"x", {2, 12, 15}, {}, {}}, {"s", {2}, {4, 5}, {}}, {"b", {2}, {5, 1}, {}}},
             ""},
        Case{"no_such_axis", kAxis + kOut4, {{"x", {2, 5, 6, 1}, {}, {}}, {"a", {}, {3}, {}}}, ""},
        Case{"steps_of_nothing",
             kFrames + kOut4,
             {{"x", {2, 40, 1}, {}, {}},
              {"step", {}, {0}, {}},
              {"w", {6}, {}, {}},
              {"l", {}, {8}, {}}},
             ""},
        Case{"window_longer_than_frames",
             kFrames + kOut4,
             {{"x", {2, 40, 1}, {}, {}},
              {"step", {}, {3}, {}},
              {"w", {6}, {}, {}},
              {"l", {}, {5}, {}}},
             ""},
        Case{"mel_upside_down",
             kMel,
             {{"b", {}, {8}, {}},
              {"l", {}, {64}, {}},
              {"r", {}, {8000}, {}},
              {"low", {}, {}, {4000.0f}},
              {"high", {}, {}, {3500.0f}}},
             ""}),
    [](const auto& tested) { return std::string(tested.param.name); });

} // namespace
} // namespace tenon::cli
