// SPDX-License-Identifier: Apache-2.0
// Another engine on the same model and inputs, in a process of its own: what a time is held
// against.
#pragma once

#include "core/jobs/job.h"
#include "remote/session/child_process.h"
#include "remote/session/local_board.h"

#include <memory>
#include <string>
#include <vector>

namespace tenon::remote {

struct PeerRequest
{
    std::string library; ///< libonnxruntime.so
    std::string model;   ///< .onnx file
    NamedTensors inputs;
    unsigned threads = 1;
    bool isOptimised = true;  ///< false: each operator as the file has it, for its values
    std::string program = {}; ///< what offers the peer as a command; empty: the running program
};

/// How samples are taken, in the terms of TimingRequest.
struct PeerSamples
{
    int count = 1;
    int number = 1;
    int minRepeatMs = 0;
};

/// Not thread-safe. After an error it is of no more use.
class Peer
{
public:
    /// Loads the library and the model and runs once. Error UnsupportedFeature with the library's
    /// own words when it cannot.
    static core::Result<std::unique_ptr<Peer>> start(const PeerRequest& request,
                                                     const core::JobContext& job);
    ~Peer();
    /// Milliseconds of one run, for each sample.
    core::Result<std::vector<double>> time(const PeerSamples& samples, const core::JobContext& job);
    /// How the outputs of its last run differ from these, which another engine computed from the
    /// same inputs; empty: within the tolerance (addDifference()).
    core::Result<std::string> difference(const std::vector<core::Tensor>& outputs, double share,
                                         const core::JobContext& job);
    /// Writes the outputs of its last run as output_0.pb and so on, in the model's order.
    core::Status writeOutputs(const std::string& folder, const core::JobContext& job);
    const std::string& name() const { return m_name; }
    const std::string& version() const { return m_version; }

private:
    explicit Peer(ChildProcess child);
    core::Result<std::string> readLine(const core::JobContext& job);
    core::Status send(const std::string& command);

    ChildProcess m_child;
    int m_socket;
    std::string m_received; ///< behind the last line
    std::string m_name;
    std::string m_version;
};

/// $TENON_ONNXRUNTIME; empty when it is not set.
std::string libraryOfPeer();

} // namespace tenon::remote
