// SPDX-License-Identifier: Apache-2.0
// The zoo by name.
#include "tests/zoo/zoo.h"

namespace tenon::test {

const std::vector<ZooEntry>& zooEntries()
{
    static const std::vector<ZooEntry> kEntries = {
        {"densenet121", makeDensenet121},
        {"dscnn", makeDscnn},
        {"inception_v3", makeInceptionV3},
        {"mobilenet_v1", makeMobilenetV1},
        {"mobilenet_v2", makeMobilenetV2},
        {"resnet18", makeResnet18},
        {"resnet50", makeResnet50},
        {"synthetic", makeSynthetic},
        {"transformer", makeTransformer},
        {"unet", makeUnet},
        {"vgg16", makeVgg16},
    };
    return kEntries;
}

std::string makeZooModel(const std::string& name, const ZooOptions& options)
{
    for (const ZooEntry& entry : zooEntries())
        if (name == entry.name) return entry.make(options);
    return "";
}

} // namespace tenon::test
