// SPDX-License-Identifier: Apache-2.0
// Between C++ values and the bytes of the session protocol; no input or output.
#pragma once

#include "remote/rpc/packed_args.h"
#include "runtime/rpc/protocol.h"

namespace tenon::remote::wire {

std::string packet(int32_t code, const std::string& body);
std::string greeting(std::string_view version);
/// What a client of a listening server says first.
std::string handshake(std::string_view key);
std::string sequence(const PackedArgs& arguments);
std::string tensor(const RemoteTensor& tensor);
std::string integer64(uint64_t value);
int32_t integer32(const uint8_t bytes[4]);

/// A sequence of one value, as system calls and exceptions return it.
core::Result<Reply> readValue(const std::string& body);
/// The type code and value that functions return.
core::Result<Reply> readReturn(const std::string& body);

} // namespace tenon::remote::wire
