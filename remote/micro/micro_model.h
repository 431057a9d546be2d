// SPDX-License-Identifier: Apache-2.0
// A model on a board without an operating system, driven over a line.
#pragma once

#include "remote/micro/micro_carrier.h"
#include "remote/rpc/rpc_session.h"

#include <map>
#include <span>

namespace tenon::remote {

/// What the board has counted since it started.
struct MicroStatistics
{
    uint64_t workspaceBytes = 0; ///< planned, in use at an inference's peak
    uint64_t stackPeakBytes = 0; ///< server and model
    uint64_t stackBytes = 0;     ///< that are watched
    uint64_t runs = 0;
    uint64_t runNs = 0; ///< of all runs
    uint64_t frames = 0, badFrames = 0, repeated = 0;
    uint64_t arrayPeakBytes = 0, arrayBytes = 0; ///< of the client's tensors
    std::vector<uint64_t> callCounts;            ///< of each of the model's calls
};

/// Which image runs, and on what.
struct MicroBoard
{
    std::string image; ///< empty: not told
    /// "cpuid=410fc241", "clock_hz=25000000", ... as the board's header says them.
    std::map<std::string, std::string> words;
};

/// Asks the server of a session; empty where it does not tell.
core::Result<MicroBoard> describedBoard(RpcSession& session);

/// One board. A board that starts anew in the middle of infer() is given everything again.
class MicroModel
{
public:
    /// Begins a session and looks for the model. Errors: of MicroExchange::start(), DataFault when
    /// the board has another model.
    static core::Result<std::unique_ptr<MicroModel>> open(std::unique_ptr<MicroLine> line,
                                                          const std::string& model,
                                                          const Patience& patience,
                                                          const MicroPace& pace = {});

    /// Sets the inputs, runs, fetches as many outputs as the model has. Errors: DataFault with what
    /// the board says; of the line.
    core::Result<std::vector<core::Tensor>> infer(std::span<const core::Tensor> inputs);
    /// Seconds per run on the board's clock: `repeat` means of `number` runs, or of more that take
    /// `minRepeatMs`.
    core::Result<std::vector<double>> time(int number, int repeat, int minRepeatMs = 0);
    /// Nanoseconds of each call of one run on the board's clock. Error DataFault when the executor
    /// notes none.
    core::Result<std::vector<uint64_t>> profile();
    core::Result<MicroStatistics> statistics();
    /// Empty where the server does not tell.
    core::Result<MicroBoard> board() { return describedBoard(*m_session); }
    const std::optional<CoreFault>& fault() const { return m_exchange.fault(); }
    /// Kernels that can be called alone.
    core::Result<std::vector<std::string>> kernels();

    const MicroLineCounters& lineCounters() const { return m_exchange.counters(); }
    int restarts() const { return m_restarts; } ///< of the board, noticed and mended
    RpcSession& session() { return *m_session; }
    /// For everything that follows.
    void setPatience(const Patience& patience);
    void onLog(std::function<void(const std::string&)> log) { m_exchange.onLog(std::move(log)); }

private:
    MicroModel(std::unique_ptr<MicroLine> line, std::string model, const MicroPace& pace);
    core::Status connect();
    core::Status reconnect();
    core::Result<std::vector<core::Tensor>> inferOnce(std::span<const core::Tensor> inputs);
    core::Result<int64_t> count(const char* function);
    core::Result<std::vector<uint64_t>> numbers(const char* function);

    MicroExchange m_exchange;
    std::string m_name;
    Patience m_patience;
    std::unique_ptr<RpcSession> m_session;
    RemoteHandle m_library, m_module, m_run;
    int m_restarts = 0;
};

} // namespace tenon::remote
