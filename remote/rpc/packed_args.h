// SPDX-License-Identifier: Apache-2.0
// Values that travel to and from remote functions.
#pragma once

#include "core/tensor/tensor.h"
#include "runtime/include/tenon/c_runtime_api.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tenon::remote {

/// A function, module or array of the server; `code` is its TVM type code. 0 means none.
struct RemoteHandle
{
    uint64_t id = 0;
    int code = kTVMNullptr;
    explicit operator bool() const { return id != 0; }
};

/// A tensor in the server's memory.
struct RemoteTensor
{
    uint64_t data = 0; ///< what the server calls its memory
    core::DataType dtype;
    std::vector<int64_t> shape;
    uint64_t byteOffset = 0; ///< of the first element in the memory
    uint64_t array = 0;      ///< of one that a function returned: what is released instead
};

/// Arguments of one call, in order. Texts and bytes are copied.
class PackedArgs
{
public:
    PackedArgs& integer(int64_t value);
    PackedArgs& text(std::string_view value);
    PackedArgs& bytes(std::span<const std::byte> value);
    PackedArgs& cpu(); ///< the device CPU 0
    PackedArgs& handle(RemoteHandle value);
    PackedArgs& tensor(const RemoteTensor& value);
    PackedArgs& none();

    struct Null
    {
    };
    struct Bytes
    {
        std::string value;
    };
    using Value =
        std::variant<Null, int64_t, std::string, Bytes, DLDevice, RemoteHandle, RemoteTensor>;
    const std::vector<Value>& values() const { return m_values; }

private:
    std::vector<Value> m_values;
};

/// What a remote function returned; which member counts follows from `code`.
struct Reply
{
    int code = kTVMNullptr;
    int64_t integer = 0;
    double number = 0;
    std::string text; ///< of a string or bytes
    RemoteHandle handle;
    RemoteTensor tensor;

    /// Bytes as doubles; error RpcFailure when they are none.
    core::Result<std::vector<double>> doubles() const;
};

DLDataType dlTypeOf(core::DataType dtype);
core::DataType dataTypeOf(DLDataType dtype);

} // namespace tenon::remote
