// SPDX-License-Identifier: Apache-2.0
// Writes the module stream of `__tvm_dev_mblob`.
#include "compiler/package/device_blob.h"

namespace tenon::compiler {
namespace {

void writeParams(ByteStream& out, const NamedTensors& params)
{
    std::vector<std::string> names;
    for (const auto& [name, tensor] : params) names.push_back(name);
    out.number(static_cast<uint64_t>(params.size()));
    out.strings(names); // the vector carries its own count beside the one above
    for (const auto& [name, tensor] : params) writeNdArray(out, tensor);
}

std::string withSize(const ByteStream& stream)
{
    ByteStream out;
    out.string(stream.bytes());
    return out.bytes();
}

} // namespace

std::string graphFactoryPayload(std::string_view graphJson, const NamedTensors& params,
                                std::string_view moduleName)
{
    ByteStream out;
    out.string(graphJson);
    writeParams(out, params);
    out.string(moduleName);
    return out.bytes();
}

std::string aotFactoryPayload(const NamedTensors& params, std::string_view moduleName)
{
    ByteStream out;
    writeParams(out, params);
    out.string(moduleName);
    return out.bytes();
}

std::string graphDeviceBlob(std::string_view factoryPayload)
{
    ByteStream out;
    out.number(uint64_t{3});
    out.string("GraphExecutorFactory").raw(factoryPayload);
    out.string("_lib");
    out.string("_import_tree").words({0, 1, 1}).words({1});
    return withSize(out);
}

std::string aotDeviceBlob(std::string_view factoryPayload)
{
    ByteStream out;
    out.number(uint64_t{4});
    out.string("AotExecutorFactory").raw(factoryPayload);
    out.string("metadata_module");
    out.string("_lib");
    out.string("_import_tree").words({0, 1, 2, 2}).words({1, 2});
    return withSize(out);
}

std::string vmDeviceBlob(std::string_view executablePayload)
{
    ByteStream out;
    out.number(uint64_t{3});
    out.string("TenonVmExecutable").raw(executablePayload);
    out.string("_lib");
    out.string("_import_tree").words({0, 1, 1}).words({1});
    return withSize(out);
}

} // namespace tenon::compiler
