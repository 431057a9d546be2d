// SPDX-License-Identifier: Apache-2.0
// Messages between a compiler and its kernel workers: encoding (no I/O) and framing on a socket.
#pragma once

#include "compiler/driver/kernel_service.h"

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace tenon::compiler {

struct KernelRequest
{
    std::string functionText; ///< tir::print of the unscheduled function
    std::string symbol;
    MachineSpec machine;
    TargetFacts facts;
};

using WorkerRequest = std::variant<KernelRequest, TextRequest, LinkRequest>;

struct KernelReply
{
    std::optional<KernelProducts> products; ///< of a KernelRequest
    std::string bytes;                      ///< of a TextRequest
    std::optional<Diagnostic> error;
};

std::string encodeRequest(const WorkerRequest& request);
Result<WorkerRequest> decodeRequest(std::string_view bytes);
std::string encodeReply(const KernelReply& reply);
Result<KernelReply> decodeReply(std::string_view bytes);

/// Blocking, whole messages; false / nothing when the peer has gone. Messages over 1 GiB are
/// refused.
bool sendMessage(int fd, std::string_view bytes);
std::optional<std::string> receiveMessage(int fd);

} // namespace tenon::compiler
