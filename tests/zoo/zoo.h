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

// Serialized ModelProto each. BatchNormalization nodes are kept; node names carry scopes.
std::string makeResnet18(const ZooOptions& options = {});
std::string makeResnet50(const ZooOptions& options = {});
std::string makeInceptionV3(const ZooOptions& options = {}); ///< images of 75 and more
std::string makeMobilenetV1(const ZooOptions& options = {});
std::string makeMobilenetV2(const ZooOptions& options = {});
std::string makeDensenet121(const ZooOptions& options = {});
std::string makeDscnn(const ZooOptions& options = {}); ///< keyword spotting, [N,1,49,10] -> 12
std::string makeTransformer(const ZooOptions& options = {}); ///< 2 layers, token ids [N,64] int64
std::string makeUnet(const ZooOptions& options = {});        ///< [N,3,96,96] -> mask [N,1,96,96]
std::string makeVgg16(const ZooOptions& options = {});
/// Exactly `options.nodes` nodes: residual conv blocks with long skips, for trace and layout sizes.
std::string makeSynthetic(const ZooOptions& options = {});

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
