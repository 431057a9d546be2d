/* SPDX-License-Identifier: MIT-0 */
/* A thin C++17 skin over c_runtime_api.h: handles that give themselves back, and exceptions in place
 * of return codes. A `Model` is an artifact with its executor; tensors are borrowed, never copied,
 * unless a name says so. */
#ifndef TENON_TENON_HPP_
#define TENON_TENON_HPP_

#include "c_runtime_api.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tenon {

/** What TVMGetLastError says. */
class Error : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

inline void check(int status)
{
    if (status != 0) throw Error(TVMGetLastError());
}

/** An argument or a result of a packed function; handles in it are borrowed. */
struct Value
{
    TVMValue value = {};
    int code = kTVMNullptr;

    Value() = default;
    Value(TVMValue v, int c) : value(v), code(c) {}
    Value(int64_t number) : code(kTVMArgInt) { value.v_int64 = number; }
    Value(int number) : Value(static_cast<int64_t>(number)) {}
    Value(double number) : code(kTVMArgFloat) { value.v_float64 = number; }
    Value(const char* text) : code(kTVMStr) { value.v_str = text; }
    Value(const std::string& text) : Value(text.c_str()) {}
    Value(DLDevice device) : code(kDLDevice) { value.v_device = device; }
    Value(DLTensor* tensor) : code(kTVMDLTensorHandle) { value.v_handle = tensor; }

    int64_t integer() const { return need(kTVMArgInt), value.v_int64; }
    double number() const { return need(kTVMArgFloat), value.v_float64; }
    const char* text() const { return need(kTVMStr), value.v_str; }
    /** A tensor that somebody else keeps. */
    DLTensor* tensor() const
    {
        if (code != kTVMNDArrayHandle) need(kTVMDLTensorHandle);
        return static_cast<DLTensor*>(value.v_handle);
    }

private:
    void need(int wanted) const
    {
        if (code != wanted)
            throw Error("a value of type code " + std::to_string(code) + " where " +
                        std::to_string(wanted) + " is wanted");
    }
};

/** A tensor with an owner: allocated here, taken over from DLPack, or a result. */
class Array
{
public:
    /** Takes over a reference. */
    explicit Array(TVMArrayHandle handle) : m_handle(handle, TVMArrayFree) {}
    /** Takes the tensor over, with its memory: no element is copied. */
    explicit Array(DLManagedTensor* managed)
    {
        TVMArrayHandle handle = nullptr;
        check(TVMArrayFromDLPack(managed, &handle));
        m_handle = {handle, TVMArrayFree};
    }
    explicit Array(const std::vector<int64_t>& shape, DLDataType type = {kDLFloat, 32, 1})
    {
        TVMArrayHandle handle = nullptr;
        check(TVMArrayAlloc(shape.data(), static_cast<int>(shape.size()), type.code, type.bits,
                            type.lanes, kDLCPU, 0, &handle));
        m_handle = {handle, TVMArrayFree};
    }

    DLTensor* tensor() const { return m_handle.get(); }
    std::vector<int64_t> shape() const
    {
        return {tensor()->shape, tensor()->shape + tensor()->ndim};
    }
    size_t size() const
    {
        size_t elements = 1;
        for (const int64_t extent : shape()) elements *= static_cast<size_t>(extent);
        return elements;
    }
    template <typename T>
    T* data() const
    {
        return reinterpret_cast<T*>(static_cast<char*>(tensor()->data) + tensor()->byte_offset);
    }
    /** Another reference to the same memory, for whoever speaks DLPack. */
    DLManagedTensor* toDLPack() const
    {
        DLManagedTensor* managed = nullptr;
        check(TVMArrayToDLPack(tensor(), &managed));
        return managed;
    }

private:
    std::shared_ptr<DLTensor> m_handle;
};

class Function
{
public:
    Function() = default;
    /** Takes over a reference. */
    explicit Function(TVMFunctionHandle handle) : m_handle(handle, TVMFuncFree) {}

    explicit operator bool() const { return m_handle != nullptr; }
    TVMFunctionHandle handle() const { return m_handle.get(); }

    /** The result's handles belong to the caller. */
    template <typename... Args>
    Value operator()(const Args&... args) const
    {
        const std::array<Value, sizeof...(Args)> values{Value(args)...};
        std::array<TVMValue, sizeof...(Args) + 1> raw{};
        std::array<int, sizeof...(Args) + 1> codes{};
        for (size_t i = 0; i < values.size(); ++i) {
            raw[i] = values[i].value;
            codes[i] = values[i].code;
        }
        Value result;
        check(TVMFuncCall(handle(), raw.data(), codes.data(), static_cast<int>(values.size()),
                          &result.value, &result.code));
        return result;
    }

private:
    std::shared_ptr<void> m_handle;
};

/** What a function of the caller's own is given and gives back; an exception is an error. */
using Callback = std::function<Value(const std::vector<Value>&)>;

/** Makes `callback` callable by name, from models too. */
inline void registerFunction(const std::string& name, Callback callback)
{
    const auto call = [](TVMValue* args, int* codes, int count, TVMRetValueHandle ret,
                         void* self) -> int {
        try {
            std::vector<Value> values;
            for (int i = 0; i < count; ++i) values.emplace_back(args[i], codes[i]);
            Value result = (*static_cast<Callback*>(self))(values);
            return TVMCFuncSetReturn(ret, &result.value, &result.code, 1);
        } catch (const std::exception& error) {
            TVMAPISetLastError(error.what());
            return -1;
        }
    };
    const auto drop = [](void* self) { delete static_cast<Callback*>(self); };
    TVMFunctionHandle function = nullptr;
    check(TVMFuncCreateFromCFunc(call, new Callback(std::move(callback)), drop, &function));
    const Function owner(function);
    check(TVMFuncRegisterGlobal(name.c_str(), function, 1));
}

class Module
{
public:
    /** Takes over a reference. */
    explicit Module(TVMModuleHandle handle) : m_handle(handle, TVMModFree) {}

    static Module load(const std::string& path)
    {
        TVMModuleHandle handle = nullptr;
        check(TVMModLoadFromFile(path.c_str(), "so", &handle));
        return Module(handle);
    }

    /** False where there is none. */
    Function find(const std::string& name) const
    {
        TVMFunctionHandle function = nullptr;
        check(TVMModGetFunction(m_handle.get(), name.c_str(), 1, &function));
        return function ? Function(function) : Function();
    }
    Function get(const std::string& name) const
    {
        Function function = find(name);
        if (!function) throw Error("the module has no function `" + name + "`");
        return function;
    }

private:
    std::shared_ptr<void> m_handle;
};

/** An artifact of the graph or the AOT executor, ready to run. One thread at a time. */
class Model
{
public:
    explicit Model(const std::string& path)
        : m_library(Module::load(path)),
          m_executor(static_cast<TVMModuleHandle>(
              m_library.get("default")(DLDevice{kDLCPU, 0}).value.v_handle))
    {
    }

    Function method(const std::string& name) const { return m_executor.get(name); }
    int64_t inputCount() const { return method("get_num_inputs")().integer(); }
    int64_t outputCount() const { return method("get_num_outputs")().integer(); }

    /** Copies the elements in. */
    void setInput(const Value& nameOrIndex, DLTensor* tensor)
    {
        method("set_input")(nameOrIndex, tensor);
    }
    /** The model reads this memory itself; it must live, and lie at a multiple of 64 bytes. */
    void lendInput(const Value& nameOrIndex, DLTensor* tensor)
    {
        method("set_input_zero_copy")(nameOrIndex, tensor);
    }
    /** The model writes its result there; as above. */
    void lendOutput(const Value& index, DLTensor* tensor)
    {
        method("set_output_zero_copy")(index, tensor);
    }
    void run() { method("run")(); }
    /** The result where the model keeps it: the next run writes over it. */
    Array output(int64_t index) const
    {
        return Array(static_cast<TVMArrayHandle>(method("get_output")(index).value.v_handle));
    }

private:
    Module m_library, m_executor;
};

} // namespace tenon

#endif
