// SPDX-License-Identifier: Apache-2.0
// Values that travel to and from remote functions.
#include "remote/rpc/packed_args.h"

#include <cstring>

namespace tenon::remote {

PackedArgs& PackedArgs::integer(int64_t value)
{
    m_values.emplace_back(value);
    return *this;
}

PackedArgs& PackedArgs::text(std::string_view value)
{
    m_values.emplace_back(std::string(value));
    return *this;
}

PackedArgs& PackedArgs::bytes(std::span<const std::byte> value)
{
    m_values.emplace_back(
        Bytes{std::string(reinterpret_cast<const char*>(value.data()), value.size())});
    return *this;
}

PackedArgs& PackedArgs::cpu()
{
    m_values.emplace_back(DLDevice{kDLCPU, 0});
    return *this;
}

PackedArgs& PackedArgs::handle(RemoteHandle value)
{
    m_values.emplace_back(value);
    return *this;
}

PackedArgs& PackedArgs::tensor(const RemoteTensor& value)
{
    m_values.emplace_back(value);
    return *this;
}

PackedArgs& PackedArgs::none()
{
    m_values.emplace_back(Null{});
    return *this;
}

core::Result<std::vector<double>> Reply::doubles() const
{
    if (code != kTVMBytes || text.size() % sizeof(double) != 0)
        return core::makeError(core::DiagnosticCode::RpcFailure,
                               "the server returned something else than a list of numbers");
    std::vector<double> values(text.size() / sizeof(double));
    std::memcpy(values.data(), text.data(), text.size());
    return values;
}

DLDataType dlTypeOf(core::DataType dtype)
{
    return {static_cast<uint8_t>(dtype.kind), dtype.bits, dtype.lanes};
}

core::DataType dataTypeOf(DLDataType dtype)
{
    return {static_cast<core::DtypeKind>(dtype.code), dtype.bits, dtype.lanes};
}

} // namespace tenon::remote
