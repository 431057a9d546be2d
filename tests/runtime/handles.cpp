// SPDX-License-Identifier: Apache-2.0
// Owners of the C ABI's handles for tests.
#include "tests/runtime/handles.h"

namespace tenon::test {

namespace {

int freeArray(void* handle) { return TVMArrayFree(static_cast<DLTensor*>(handle)); }

Handle owned(int code, void* handle)
{
    if (code == kTVMModuleHandle) return Handle(handle, {TVMModFree});
    if (code == kTVMPackedFuncHandle) return Handle(handle, {TVMFuncFree});
    return Handle(handle, {freeArray});
}

} // namespace

Handle loadModule(const std::string& path)
{
    TVMModuleHandle handle = nullptr;
    if (TVMModLoadFromFile(path.c_str(), "", &handle) != 0) handle = nullptr;
    return owned(kTVMModuleHandle, handle);
}

Handle moduleFunction(const Handle& module, const std::string& name)
{
    TVMFunctionHandle handle = nullptr;
    if (TVMModGetFunction(module.get(), name.c_str(), 1, &handle) != 0) handle = nullptr;
    return owned(kTVMPackedFuncHandle, handle);
}

Handle globalFunction(const std::string& name)
{
    TVMFunctionHandle handle = nullptr;
    if (TVMFuncGetGlobal(name.c_str(), &handle) != 0) handle = nullptr;
    return owned(kTVMPackedFuncHandle, handle);
}

Handle makeArray(const std::vector<int64_t>& shape, const std::vector<float>& values)
{
    TVMArrayHandle handle = nullptr;
    const int rank = static_cast<int>(shape.size());
    if (TVMArrayAlloc(shape.data(), rank, kDLFloat, 32, 1, kDLCPU, 0, &handle) == 0)
        TVMArrayCopyFromBytes(handle, const_cast<float*>(values.data()),
                              values.size() * sizeof(float));
    return owned(kTVMNDArrayHandle, handle);
}

std::vector<float> floatsOf(const void* array)
{
    const auto* tensor = static_cast<const DLTensor*>(array);
    int64_t count = 1;
    for (int i = 0; i < tensor->ndim; ++i) count *= tensor->shape[i];
    const auto* data = static_cast<const float*>(tensor->data);
    return {data, data + count};
}

CallResult call(const Handle& function, const std::vector<Argument>& arguments, int handleCode)
{
    std::vector<TVMValue> values;
    std::vector<int> codes;
    for (const Argument& argument : arguments) {
        TVMValue value{};
        if (const auto* integer = std::get_if<int64_t>(&argument)) {
            value.v_int64 = *integer;
            codes.push_back(kTVMArgInt);
        } else if (const auto* text = std::get_if<std::string>(&argument)) {
            value.v_str = text->c_str();
            codes.push_back(kTVMStr);
        } else if (const auto* device = std::get_if<DLDevice>(&argument)) {
            value.v_device = *device;
            codes.push_back(kDLDevice);
        } else {
            value.v_handle = std::get<const Handle*>(argument)->get();
            codes.push_back(handleCode);
        }
        values.push_back(value);
    }
    CallResult result{.handle = Handle(nullptr, {freeArray})};
    TVMValue value{};
    result.status = TVMFuncCall(function.get(), values.data(), codes.data(),
                                static_cast<int>(values.size()), &value, &result.code);
    if (result.status != 0) {
        result.error = TVMGetLastError();
    } else if (result.code == kTVMArgInt) {
        result.integer = value.v_int64;
    } else if (result.code == kTVMStr) {
        result.text = value.v_str;
    } else if (result.code == kTVMBytes) {
        const auto* bytes = static_cast<const TVMByteArray*>(value.v_handle);
        result.text.assign(bytes->data, bytes->size);
    } else if (result.code == kTVMModuleHandle || result.code == kTVMPackedFuncHandle ||
               result.code == kTVMNDArrayHandle) {
        result.handle = owned(result.code, value.v_handle);
    }
    return result;
}

} // namespace tenon::test
