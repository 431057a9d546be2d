// SPDX-License-Identifier: Apache-2.0
// Standard architectures built in code as ONNX bytes (opset 13) with seeded weights.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::test {

struct ZooOptions
{
    uint64_t seed = 1;
    int64_t batch = 1;     ///< -1: the dimension `batch`
    int64_t imageSize = 0; ///< 0: what the architecture was published with
    int64_t channelDivisor =
        1;                 ///< channels divided by this, at least 4: small models for quick tests
    int64_t nodes = 10000; ///< of the synthetic model
};

// Serialized ModelProto each, of the published depth, width and input. BatchNormalization nodes are
// kept; node names carry scopes. makeSynthetic() has exactly `options.nodes` nodes: residual blocks
// with long skips, for trace and layout sizes.
#define TENON_ZOO(name, make) std::string make(const ZooOptions& options = {});
#include "tests/zoo/zoo.def"

struct ZooEntry
{
    const char* name;
    std::string (*make)(const ZooOptions&);
};

/// All of the above by name: resnet18, resnet50, mobilenet_v1, ...
const std::vector<ZooEntry>& zooEntries();

/// "" for an unknown name.
std::string makeZooModel(const std::string& name, const ZooOptions& options = {});

} // namespace tenon::test
