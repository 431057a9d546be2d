// SPDX-License-Identifier: Apache-2.0
// The layouts are those of TVM 0.16's runtime (metadata_types.h, module.h), written anew.
#include "compiler/codegen/c/c_system_library.h"

#include "compiler/codegen/c/c_text.h"
#include "core/base/text.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

constexpr const char* kTypes = R"(/* Layouts that TVM's C runtime knows. */
typedef struct
{
    const char* name;
    const int64_t* shape;
    int64_t shape_size;
    DLDataType dtype;
} tensor_info;

typedef struct
{
    int64_t version;
    const tensor_info* inputs;
    int64_t input_count;
    const tensor_info* outputs;
    int64_t output_count;
    const tensor_info* workspace_pools;
    int64_t workspace_pool_count;
    const void* constant_pools;
    int64_t constant_pool_count;
    const char* module_name;
} model_metadata;

typedef int32_t (*packed_function)(TVMValue*, int32_t*, int32_t, TVMValue*, int32_t*, void*);

typedef struct
{
    const char* names; /* how many as two bytes, then each with its end */
    const packed_function* functions;
} function_registry;

typedef struct
{
    const function_registry* registry;
} system_module;

)";

/// A table of the inputs or outputs.
std::string tensorsText(const ExecutorProgram& program, const std::string& which,
                        const std::vector<int>& tensors, const std::vector<std::string>& names)
{
    std::string shapes, rows;
    for (size_t i = 0; i < tensors.size(); ++i) {
        const ProgramTensor& tensor = program.tensors[static_cast<size_t>(tensors[i])];
        const std::string shape = which + "_" + std::to_string(i) + "_shape";
        std::vector<std::string> dims;
        for (const int64_t dim : tensor.shape) dims.push_back(std::to_string(dim));
        if (dims.empty()) dims.emplace_back("0"); // a scalar; C wants something
        shapes += "static const int64_t " + shape + "[] = {" + core::join(dims, ", ") + "};\n";
        rows += "    {" + cString(names[i]) + ", " + shape + ", " +
                std::to_string(tensor.shape.size()) + ", {" +
                std::to_string(static_cast<int>(tensor.dtype.kind)) + ", " +
                std::to_string(tensor.dtype.bits) + ", " + std::to_string(tensor.dtype.lanes) +
                "}},\n";
    }
    if (rows.empty()) rows = "    {0, 0, 0, {0, 0, 0}},\n";
    return shapes + "static const tensor_info " + which + "s[] = {\n" + rows + "};\n\n";
}

} // namespace

SourceFile cSystemLibrary(const CProgram& source)
{
    const ExecutorProgram& program = source.program;
    const std::string module = cName(program.moduleName), prefix = "tvmgen_" + module;
    std::vector<std::string> inputs;
    for (const int input : program.inputs)
        inputs.push_back(program.tensors[static_cast<size_t>(input)].name);
    const auto count = [](size_t size) { return std::to_string(size); };
    std::string text = cFileHead(source) + "#include \"" + prefix + ".h\"\n\n" + kTypes +
                       tensorsText(program, "input", program.inputs, inputs) +
                       tensorsText(program, "output", program.outputs, program.outputNames);
    text += "static const model_metadata metadata = {1, inputs, " + count(program.inputs.size()) +
            ", outputs, " + count(program.outputs.size()) + ", 0, 0, 0, 0, " + cString(prefix) +
            "};\n\nint32_t " + prefix +
            "_get_c_metadata(TVMValue* args, int32_t* type_codes, int32_t num_args,\n"
            "    TVMValue* out_value, int32_t* out_type_code, void* resource);\n\nint32_t " +
            prefix +
            "_get_c_metadata(TVMValue* args, int32_t* type_codes, int32_t num_args,\n"
            "    TVMValue* out_value, int32_t* out_type_code, void* resource)\n{\n"
            "    (void)args;\n    (void)type_codes;\n    (void)num_args;\n    (void)resource;\n"
            "    out_value->v_handle = (void*)(uintptr_t)&metadata;\n"
            "    *out_type_code = 3; /* a handle that only we know */\n    return 0;\n}\n\n";
    text += "static const packed_function functions[] = {" + prefix + "_get_c_metadata, " + prefix +
            "_run};\n\nstatic const function_registry registry = {\"\\002\\000" + prefix +
            "_get_c_metadata\\000\" \"" + prefix +
            "_run\\000\", functions};\n\nstatic const system_module library = {&registry};\n\n"
            "/* Called by TVM's C runtime when it starts. */\n"
            "const void* TVMSystemLibEntryPoint(void);\n\n"
            "const void* TVMSystemLibEntryPoint(void) { return &library; }\n";
    return {"src/" + module + "_lib2.c", std::move(text)};
}

} // namespace tenon::compiler
