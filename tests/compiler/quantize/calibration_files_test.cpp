// SPDX-License-Identifier: Apache-2.0
// Data sets as people keep them.
#include "compiler/frontend/tensor_file.h"
#include "compiler/quantize/calibration_files.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/compiler/quantize/evaluating_runner.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tenon::compiler {
namespace {

class CalibrationFiles : public ::testing::Test
{
protected:
    void model(const std::string& inputs)
    {
        std::ofstream(m_folder.file("m.onnx"), std::ios::binary)
            << test::modelOf(inputs + "node Relu r x -> y\noutput y float32 *\n")
                   .SerializeAsString();
        std::filesystem::create_directories(m_folder.file("data"));
    }
    void write(const std::string& name, const Tensor& tensor, const std::string& input = "")
    {
        const std::filesystem::path path = m_folder.file("data/" + name);
        std::filesystem::create_directories(path.parent_path());
        const Status done = writeTensorFile(path.string(), tensor, input);
        ASSERT_TRUE(done) << done.error().text();
    }
    Result<CalibrationData> read(size_t most = 100) const
    {
        return readCalibration(m_folder.file("m.onnx"), m_folder.file("data"), most);
    }

    test::TemporaryFolder m_folder;
};

TEST_F(CalibrationFiles, TakesEachFileOfAModelWithOneInputInNumericOrder)
{
    model("input x float32 1,3\n");
    for (const int i : {10, 2, 1})
        write("digit_" + std::to_string(i) + ".npy", test::randomTensor({1, 3}, 5));
    write("output_0.pb", test::randomTensor({9}, 1));
    const auto data = read();
    ASSERT_TRUE(data) << data.error().text();
    ASSERT_EQ(data->size(), 3u);
    EXPECT_TRUE((*data)[1].source.ends_with("digit_2.npy")) << (*data)[1].source;
    EXPECT_EQ((*data)[0].inputs[0].first, "x");
    EXPECT_EQ(read(2)->size(), 2u);
}

TEST_F(CalibrationFiles, TakesFoldersOfSeveralInputsByName)
{
    model("input x float32 1,3\ninput z float32 2\n");
    for (const char* set : {"test_data_set_0", "test_data_set_1"}) {
        write(std::string(set) + "/input_0.pb", test::randomTensor({2}, 5), "z");
        write(std::string(set) + "/input_1.pb", test::randomTensor({1, 3}, 5), "x");
    }
    const auto data = read();
    ASSERT_TRUE(data) << data.error().text();
    ASSERT_EQ(data->size(), 2u);
    EXPECT_EQ((*data)[1].inputs[0].second.shape(), (std::vector<int64_t>{1, 3}));
    EXPECT_EQ((*data)[1].inputs[1].second.shape(), (std::vector<int64_t>{2}));
}

TEST_F(CalibrationFiles, DividesATensorOfSeveralExamples)
{
    model("input x float32 1,3\n");
    const Tensor all = test::randomTensor({4, 3}, 5);
    write("all.npy", all);
    auto data = read();
    ASSERT_TRUE(data) << data.error().text();
    ASSERT_EQ(data->size(), 4u);
    EXPECT_EQ((*data)[2].inputs[0].second.shape(), (std::vector<int64_t>{1, 3}));
    EXPECT_EQ((*data)[2].inputs[0].second.number(1), all.number(7));
    write("all.npy", all.reshaped({4, 1, 3}));
    EXPECT_EQ(read()->size(), 4u);
    model("input x float32 n,3\n");
    EXPECT_EQ(read()->at(3).inputs[0].second.shape(), (std::vector<int64_t>{1, 3}));
}

TEST_F(CalibrationFiles, RoundsTheDoublesThatNumpyMakes)
{
    model("input x float32 1,2\n");
    write("a.npy", Tensor::of<double>(kFloat64, {1, 2}, {0.1, -2}));
    const auto data = read();
    ASSERT_TRUE(data) << data.error().text();
    const Tensor& taken = data->front().inputs[0].second;
    ASSERT_EQ(taken.dtype(), kFloat32);
    EXPECT_EQ(taken.number(0), double{0.1F});
}

TEST_F(CalibrationFiles, SaysWhatIsMissing)
{
    model("input x float32 1,3\ninput z float32 2\n");
    auto data = read();
    ASSERT_FALSE(data);
    EXPECT_NE(data.error().text().find("holds no .npy"), std::string::npos) << data.error().text();
    write("0/input_0.pb", test::randomTensor({1, 3}, 5), "x");
    data = read();
    ASSERT_FALSE(data);
    EXPECT_NE(data.error().text().find("`z`"), std::string::npos) << data.error().text();
    EXPECT_FALSE(readCalibration(m_folder.file("m.onnx"), m_folder.file("nowhere"), 1));
}

} // namespace
} // namespace tenon::compiler
