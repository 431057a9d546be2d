// SPDX-License-Identifier: Apache-2.0
// Between C++ values and the bytes of the session protocol.
#include "remote/rpc/wire.h"

namespace tenon::remote::wire {

using core::DiagnosticCode;
using core::makeError;
using core::Result;

namespace {

/// The C writer with an end of life, as text.
class Writer
{
public:
    Writer() = default;
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    ~Writer() { tenon_writer_free(&m_writer); }

    tenon_writer* get() { return &m_writer; }
    std::string take()
    {
        CHECK(!m_writer.failed) << "a packet exceeds the protocol's maximum";
        return {reinterpret_cast<const char*>(m_writer.data), m_writer.size};
    }

private:
    tenon_writer m_writer = tenon_writer_of(TENON_RPC_MAX_PACKET);
};

/// What a TVMValue points to while a sequence is written.
struct Borrowed
{
    TVMByteArray bytes{};
    DLTensor tensor{};
};

DLTensor dlTensorOf(const RemoteTensor& tensor)
{
    DLTensor out{};
    out.data = reinterpret_cast<void*>(tensor.data);
    out.device = {kDLCPU, 0};
    out.ndim = static_cast<int32_t>(tensor.shape.size());
    out.dtype = dlTypeOf(tensor.dtype);
    out.shape = const_cast<int64_t*>(tensor.shape.data());
    out.byte_offset = tensor.byteOffset;
    return out;
}

int store(const PackedArgs::Value& from, TVMValue& value, Borrowed& borrowed)
{
    if (const auto* integer = std::get_if<int64_t>(&from)) {
        value.v_int64 = *integer;
        return kTVMArgInt;
    }
    if (const auto* text = std::get_if<std::string>(&from)) {
        value.v_str = text->c_str();
        return kTVMStr;
    }
    if (const auto* bytes = std::get_if<PackedArgs::Bytes>(&from)) {
        borrowed.bytes = {bytes->value.data(), bytes->value.size()};
        value.v_handle = &borrowed.bytes;
        return kTVMBytes;
    }
    if (const auto* device = std::get_if<DLDevice>(&from)) {
        value.v_device = *device;
        return kDLDevice;
    }
    if (const auto* handle = std::get_if<RemoteHandle>(&from)) {
        value.v_int64 = static_cast<int64_t>(handle->id);
        return handle->code;
    }
    if (const auto* tensor = std::get_if<RemoteTensor>(&from)) {
        borrowed.tensor = dlTensorOf(*tensor);
        value.v_handle = &borrowed.tensor;
        return kTVMDLTensorHandle;
    }
    return kTVMNullptr;
}

/// The C reader's sequence with an end of life.
class Sequence
{
public:
    explicit Sequence(const std::string& body)
    {
        tenon_reader reader = tenon_reader_of(body.data(), body.size());
        m_good = tenon_read_seq(&reader, &m_arena, &m_seq) == 0 && tenon_reader_left(&reader) == 0;
    }
    Sequence(const Sequence&) = delete;
    Sequence& operator=(const Sequence&) = delete;
    ~Sequence() { tenon_arena_free(&m_arena); }

    int count() const { return m_good ? m_seq.count : -1; }
    int code(int index) const { return m_seq.codes[index]; }
    const TVMValue& value(int index) const { return m_seq.values[index]; }

private:
    tenon_arena m_arena{};
    tenon_rpc_seq m_seq{};
    bool m_good;
};

core::Diagnostic malformed()
{
    return makeError(DiagnosticCode::RpcFailure, "the server sent a malformed answer");
}

/// Takes a value that travels as itself.
Reply plainValue(int code, const TVMValue& value)
{
    Reply reply{.code = code};
    if (code == kTVMArgInt) reply.integer = value.v_int64;
    if (code == kTVMArgFloat) reply.number = value.v_float64;
    if (code == kTVMStr) reply.text = value.v_str;
    if (code == kTVMBytes) {
        const auto* bytes = static_cast<const TVMByteArray*>(value.v_handle);
        reply.text.assign(bytes->data, bytes->size);
    }
    if (code == kTVMOpaqueHandle) reply.handle = {static_cast<uint64_t>(value.v_int64), code};
    return reply;
}

} // namespace

std::string packet(int32_t code, const std::string& body)
{
    Writer writer;
    const size_t start = tenon_packet_begin(writer.get(), static_cast<tenon_rpc_code>(code));
    tenon_write_bytes(writer.get(), body.data(), body.size());
    tenon_packet_end(writer.get(), start);
    return writer.take();
}

std::string greeting(std::string_view version)
{
    Writer writer;
    tenon_write_string(writer.get(), version.data(), version.size());
    tenon_write_seq(writer.get(), nullptr, nullptr, 0);
    return writer.take();
}

std::string handshake(std::string_view key)
{
    const std::string text = "client:" + std::string(key);
    Writer writer;
    tenon_write_i32(writer.get(), kTenonRpcMagic);
    tenon_write_i32(writer.get(), static_cast<int32_t>(text.size()));
    tenon_write_bytes(writer.get(), text.data(), text.size());
    return writer.take();
}

std::string sequence(const PackedArgs& arguments)
{
    const std::vector<PackedArgs::Value>& from = arguments.values();
    std::vector<TVMValue> values(from.size());
    std::vector<int> codes(from.size());
    std::vector<Borrowed> borrowed(from.size());
    for (size_t i = 0; i < from.size(); ++i) codes[i] = store(from[i], values[i], borrowed[i]);
    Writer writer;
    tenon_write_seq(writer.get(), values.data(), codes.data(), static_cast<int>(from.size()));
    return writer.take();
}

std::string tensor(const RemoteTensor& tensor)
{
    Writer writer;
    const DLTensor plain = dlTensorOf(tensor);
    tenon_write_tensor(writer.get(), &plain);
    return writer.take();
}

std::string integer64(uint64_t value)
{
    Writer writer;
    tenon_write_u64(writer.get(), value);
    return writer.take();
}

int32_t integer32(const uint8_t bytes[4])
{
    tenon_reader reader = tenon_reader_of(bytes, 4);
    return tenon_read_i32(&reader);
}

Result<Reply> readValue(const std::string& body)
{
    const Sequence seq(body);
    if (seq.count() != 1) return malformed();
    return plainValue(seq.code(0), seq.value(0));
}

Result<Reply> readReturn(const std::string& body)
{
    const Sequence seq(body);
    if (seq.count() < 2 || seq.code(0) != kTVMArgInt) return malformed();
    const int code = static_cast<int>(seq.value(0).v_int64);
    if (code == kTVMNDArrayHandle) {
        if (seq.count() != 3 || seq.code(1) != kTVMDLTensorHandle ||
            seq.code(2) != kTVMOpaqueHandle)
            return malformed();
        const auto* tensor = static_cast<const DLTensor*>(seq.value(1).v_handle);
        // Tenon's servers give memory and array one handle, TVM's two.
        Reply reply{.code = code};
        reply.tensor = {.data = reinterpret_cast<uintptr_t>(tensor->data),
                        .dtype = dataTypeOf(tensor->dtype),
                        .shape = {tensor->shape, tensor->shape + tensor->ndim},
                        .byteOffset = tensor->byte_offset,
                        .array = static_cast<uint64_t>(seq.value(2).v_int64)};
        return reply;
    }
    Reply reply = plainValue(seq.code(1), seq.value(1));
    reply.code = code;
    if (code == kTVMModuleHandle || code == kTVMPackedFuncHandle) reply.handle.code = code;
    return reply;
}

} // namespace tenon::remote::wire
