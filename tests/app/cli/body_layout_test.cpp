// SPDX-License-Identifier: Apache-2.0
// Operators whose layout the compiler alters, inside branches, loops and scans that capture values
// from outside: every opt level computes what level 0 does.
#include "tests/app/cli/program.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace tenon::cli {
namespace {

/// `count` small numbers around 0, as a list.
std::string integers(size_t count)
{
    std::string out;
    uint32_t state = 1;
    for (size_t i = 0; i < count; ++i) {
        state = state * 1664525 + 1013904223;
        out += (i ? "," : "") + std::to_string(static_cast<int>(state >> 28) - 8);
    }
    return out;
}

/// Weights of the chains; they stand outside of the bodies.
std::string weights()
{
    return "init w1 float32 16,8,3,3\ninit w2 float32 16,1,3,3\ninit w3 float32 32,8,3,3\n"
           "init w4 float32 32,8,2,2\ninit s float32 16\ninit t float32 16\ninit m float32 16\n"
           "init v float32 16\nfloats twice float32 4 = 1,1,2,2\n"
           "floats sx float32 () = 0.02\nfloats sw float32 () = 0.01\nfloats sy float32 () = 0.05\n"
           "ints zero int8 () = 3\nints zw int8 () = 0\nints wq int8 16,8,3,3 = " +
           integers(16 * 8 * 9) + "\nints w5 int8 8,16,1,1 = " + integers(8 * 16) + "\n";
}

/// From `in` to `out`, both (1, 8, 12, 12), with `outer` of the same shape.
const std::string kFloats = R"(node Conv c1 in,w1 -> a1 pads=[1,1,1,1]
node BatchNormalization bn a1,s,t,m,v -> a2
node Relu r a2 -> a3
node Conv dw a3,w2 -> a4 group=16 pads=[1,1,1,1]
node MaxPool mp a4 -> a5 kernel_shape=[2,2] strides=[2,2]
node Resize rs a5,_,twice -> a6 mode="nearest"
node Concat cc a6,a3 -> a7 axis=1
node Conv gr a7,w3 -> a8 group=4 pads=[1,1,1,1]
node ConvTranspose ct a8,w4 -> a9 strides=[2,2]
node AveragePool ap a9 -> a10 kernel_shape=[2,2] strides=[2,2]
node LpNormalization n a10 -> a11 axis=1
node Add ad a11,outer -> out
)";

const std::string kQuantized = R"(node QuantizeLinear q in,sx,zero -> b1
node QLinearConv qc b1,sx,zero,wq,sw,zw,sy,zero -> b2 pads=[1,1,1,1]
node MaxPool qp b2 -> b3 kernel_shape=[3,3] pads=[1,1,1,1]
node QLinearConv qd b3,sy,zero,w5,sw,zw,sy,zero -> b4
node DequantizeLinear d b4,sy,zero -> b5
node Add ad b5,outer -> out
)";

std::string replaced(std::string text, const std::string& from, const std::string& to)
{
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
    return text;
}

/// The chain from `in` to `out`.
std::string between(const std::string& chain, const std::string& in, const std::string& out)
{
    return replaced(replaced(chain, " in,", " " + in + ","), "-> out\n", "-> " + out + "\n");
}

std::string inBranch(const std::string& chain)
{
    return "input x float32 1,8,12,12\ninput e float32 1,8,12,12\ninput f bool ()\n" + weights() +
           "node Mul mul e,e -> outer\ngraph yes\n" + between(chain, "x", "p") +
           "output p float32 1,8,12,12\nend\ngraph no\nnode Sub sub x,outer -> q0\n" +
           between(chain, "q0", "q") +
           "output q float32 1,8,12,12\nend\n"
           "node If choice f -> y then_branch=g:yes else_branch=g:no\n"
           "output y float32 1,8,12,12\n";
}

std::string inLoop(const std::string& chain)
{
    return "input x float32 1,8,12,12\ninput e float32 1,8,12,12\n" + weights() +
           "ints trips int64 () = 2\nints go bool () = 1\nnode Mul mul e,e -> outer\n"
           "graph body\ninput i int64 ()\ninput c bool ()\ninput z float32 1,8,12,12\n"
           "node Identity k c -> co\n" +
           between(chain, "z", "zo") +
           "node Relu col zo -> each\n"
           "output co bool ()\noutput zo float32 1,8,12,12\noutput each float32 1,8,12,12\nend\n"
           "node Loop steps trips,go,x -> y,all body=g:body\n"
           "output y float32 1,8,12,12\noutput all float32 2,1,8,12,12\n";
}

std::string inScan(const std::string& chain)
{
    return "input x float32 2,1,8,12,12\ninput e float32 1,8,12,12\n" + weights() +
           "node Mul mul e,e -> outer\n"
           "graph body\ninput z float32 1,8,12,12\n" +
           between(chain, "z", "zo") +
           "output zo float32 1,8,12,12\nend\n"
           "node Scan steps x -> y body=g:body num_scan_inputs=1\n"
           "output y float32 2,1,8,12,12\n";
}

struct Case
{
    const char* name;
    std::string model;
    bool isQuantized;
};

std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }

class BodyLayout : public ::testing::TestWithParam<Case>
{
protected:
    /// First output of a run at this level with made-up inputs.
    std::vector<float> run(const std::string& path, int level)
    {
        const std::string outputs = m_folder.file("out" + std::to_string(level));
        const Outcome outcome = tenon("run " + path + " --opt-level " + std::to_string(level) +
                                      " --outputs " + outputs + " 2>&1");
        EXPECT_EQ(outcome.code, 0) << "level " << level << ": " << outcome.output;
        std::ifstream file(outputs + "/output_0.npy", std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        if (bytes.size() < 10) return {};
        const size_t header = 10 + static_cast<unsigned char>(bytes[8]) +
                              256 * static_cast<size_t>(static_cast<unsigned char>(bytes[9]));
        std::vector<float> values((bytes.size() - header) / sizeof(float));
        std::memcpy(values.data(), bytes.data() + header, values.size() * sizeof(float));
        return values;
    }
    test::TemporaryFolder m_folder;
};

TEST_P(BodyLayout, ComputesTheSameAtEveryLevel)
{
    const std::string path = m_folder.file("model.onnx");
    std::ofstream(path, std::ios::binary) << test::modelOf(GetParam().model).SerializeAsString();
    const std::vector<float> wanted = run(path, 0);
    ASSERT_FALSE(wanted.empty());
    float largest = 0;
    for (const float value : wanted) largest = std::max(largest, std::abs(value));
    // A step of the last quantized tensor, or what sums in another order differ by.
    const float tolerance = GetParam().isQuantized ? 0.0501f : 1e-4f * largest;
    for (const int level : {1, 2, 3}) {
        const std::vector<float> got = run(path, level);
        ASSERT_EQ(got.size(), wanted.size()) << "level " << level;
        for (size_t i = 0; i < got.size(); ++i)
            ASSERT_NEAR(got[i], wanted[i], tolerance) << "level " << level << ", element " << i;
    }
}

INSTANTIATE_TEST_SUITE_P(All, BodyLayout,
                         ::testing::Values(Case{"IfOfFloats", inBranch(kFloats), false},
                                           Case{"LoopOfFloats", inLoop(kFloats), false},
                                           Case{"ScanOfFloats", inScan(kFloats), false},
                                           Case{"IfOfQuantized", inBranch(kQuantized), true},
                                           Case{"LoopOfQuantized", inLoop(kQuantized), true},
                                           Case{"ScanOfQuantized", inScan(kQuantized), true}),
                         [](const testing::TestParamInfo<Case>& one) {
                             return std::string(one.param.name);
                         });

} // namespace
} // namespace tenon::cli
