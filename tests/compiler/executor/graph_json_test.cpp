// SPDX-License-Identifier: Apache-2.0
// Graph JSON, character for character.
#include "compiler/executor/graph_json.h"
#include "tests/compiler/executor/sample_program.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

constexpr const char* kSampleJson = R"({
  "nodes": [
    {"op":"null","name":"x","inputs":[]},
    {"op":"null","name":"b","inputs":[]},
    {"op":"null","name":"w","inputs":[]},
    {"op":"tvm_op","name":"fused_add","attrs":{"func_name":"tvmgen_default_fused_add","num_inputs":"2","num_outputs":"1","flatten_data":"0","hash":"00ff"},"inputs":[[0,0,0],[2,0,0]]},
    {"op":"tvm_op","name":"fused_add_1","attrs":{"func_name":"tvmgen_default_fused_add","num_inputs":"2","num_outputs":"1","flatten_data":"0","hash":"00ff"},"inputs":[[3,0,0],[3,0,0]]},
    {"op":"tvm_op","name":"fused_add_2","attrs":{"func_name":"tvmgen_default_fused_add","num_inputs":"2","num_outputs":"1","flatten_data":"0","hash":"00ff"},"inputs":[[4,0,0],[1,0,0]]},
    {"op":"tvm_op","name":"flat","attrs":{"func_name":"__nop","num_inputs":"1","num_outputs":"1","flatten_data":"0"},"inputs":[[3,0,0]]}
  ],
  "arg_nodes": [0,1,2],
  "heads": [[5,0,0],[6,0,0],[0,0,0],[2,0,0]],
  "attrs": {
    "dltype": ["list_str",["float32","float32","float32","float32","float32","float32","float32"]],
    "device_index": ["list_int",[1,1,1,1,1,1,1]],
    "storage_id": ["list_int",[0,1,2,3,4,5,3]],
    "shape": ["list_shape",[[2,3],[2,3],[2,3],[2,3],[2,3],[2,3],[6]]]
  },
  "node_row_ptr": [0,1,2,3,4,5,6,7]
}
)";

TEST(GraphJson, WritesTheSampleProgram)
{
    const ExecutorProgram program = test::sampleProgram();
    EXPECT_EQ(*graphJson(program, planStorage(program)), kSampleJson);
}

TEST(GraphJson, CountsRowsOfNodesWithSeveralOutputsAndWritesBoolAsUint1)
{
    ExecutorProgram program;
    const auto tensor = [](const char* name, TensorRole role, core::DataType dtype) {
        return ProgramTensor{.name = name, .dtype = dtype, .shape = {4}, .role = role};
    };
    program.tensors = {tensor("x", TensorRole::Input, core::kFloat32),
                       tensor("values", TensorRole::Intermediate, core::kInt64),
                       tensor("mask", TensorRole::Intermediate, core::kBool)};
    program.inputs = {0};
    program.outputs = {2, 1};
    program.outputNames = {"mask", "values"};
    program.kernels = {{.symbol = "k", .function = "f", .parameterCount = 3}};
    program.calls = {{.name = "split", .kernel = 0, .arguments = {0, 1, 2}, .outputCount = 2}};
    const std::string json = *graphJson(program, planStorage(program));
    EXPECT_NE(json.find(R"("num_inputs":"1","num_outputs":"2")"), std::string::npos) << json;
    EXPECT_NE(json.find(R"("heads": [[1,1,0],[1,0,0]])"), std::string::npos) << json;
    EXPECT_NE(json.find(R"("node_row_ptr": [0,1,3])"), std::string::npos) << json;
    EXPECT_NE(json.find(R"(["float32","int64","uint1"])"), std::string::npos) << json;
}

TEST(GraphJson, RefusesPlacementInsideAnotherTensor)
{
    ExecutorProgram program = test::sampleProgram();
    program.tensors[6].shape = {2};
    program.tensors[6].viewOffsetBytes = 16;
    const core::Result<std::string> json = graphJson(program, planStorage(program));
    ASSERT_FALSE(json);
    EXPECT_EQ(json.error().code, core::DiagnosticCode::UnsupportedFeature);
    EXPECT_NE(json.error().message.find("`flat`"), std::string::npos);
}

} // namespace
} // namespace tenon::compiler
