// SPDX-License-Identifier: Apache-2.0
// Hand-made artifacts: byte streams in the formats of the ABI, compiled with the host's C compiler.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::test {

/// Little-endian byte stream builder.
class Stream
{
public:
    Stream& u8(uint8_t value) { return integer(value, 1); }
    Stream& u16(uint16_t value) { return integer(value, 2); }
    Stream& u32(uint32_t value) { return integer(value, 4); }
    Stream& i32(int32_t value) { return u32(static_cast<uint32_t>(value)); }
    Stream& u64(uint64_t value) { return integer(value, 8); }
    Stream& text(std::string_view value); ///< u64 length + bytes
    Stream& raw(std::string_view value);
    /// A serialised float32 array.
    Stream& array(const std::vector<int64_t>& shape, const std::vector<float>& values);

    const std::string& bytes() const { return m_bytes; }

private:
    Stream& integer(uint64_t value, int size);
    std::string m_bytes;
};

/// y = reshape(x + p0, [6]); z = 2 * y: nodes x, p0, add, a `__nop`, and a parallel kernel.
std::string addGraphJson();
/// C source of its kernels `fused_add` and `fused_double`.
std::string addKernelSource();
/// GraphExecutorFactory payload with p0 = (10, 20, 30).
std::string graphFactoryPayload(const std::string& json);
/// The stream of `__tvm_dev_mblob` (without its byte count) for a factory over the library.
std::string graphBlob(const std::string& payload);
std::string aotBlob();
/// C source of an AOT module `tvmgen_default`: the same computation, instrumented too.
std::string aotSource();

/// The same with `code` at the start of its second kernel. The code may call `ask`, a system call,
/// and `send_self`, which sends a signal: an artifact has no C library.
std::string sabotagedSource(const std::string& code);

/// `blob` as C source that defines `__tvm_dev_mblob`.
std::string blobSource(const std::string& blob);
/// Compiles C `source` into <folder>/<name>.so; "" (and a test failure) when that fails.
std::string compileLibrary(const std::string& folder, const std::string& name,
                           const std::string& source, const std::string& flags = "",
                           const std::string& compiler = "cc");

} // namespace tenon::test
