// SPDX-License-Identifier: Apache-2.0
// The sample compiled into a file that an emulator or engine runs here, and what every such file
// must do.
#pragma once

#include "remote/session/local_board.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

namespace tenon::remote {

class SampleArtifact : public testing::Test
{
protected:
    /// Compiles the sample for `target` into `file` of a folder of its own.
    void make(const char* target, const char* file);
    void expectRunsOnZerosUntilInputsAreSet();
    void expectTimesOfEveryCall();

    core::JobContext m_job;
    test::TemporaryFolder m_folder;
    RunRequest m_request;
    size_t m_calls = 0;
};

} // namespace tenon::remote
