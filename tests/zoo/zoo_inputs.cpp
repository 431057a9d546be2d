// SPDX-License-Identifier: Apache-2.0
// Seeded images, tokens and deviates.
#include "tests/zoo/zoo_inputs.h"

#include "core/base/check.h"
#include "tests/zoo/calibration.h"

#include <random>
#include <string>

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

constexpr int64_t kTokens = 1000;

/// [0, 1), equal on every platform.
double uniform(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

/// Nearly normal, of deviation 1.
double deviate(std::mt19937_64& random)
{
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform(random);
    return sum;
}

template <class Item>
std::string bytesOf(const std::vector<Item>& items)
{
    return {reinterpret_cast<const char*>(items.data()), items.size() * sizeof(Item)};
}

std::string wholeNumbers(const std::string& name, size_t count, std::mt19937_64& random)
{
    std::vector<int64_t> items(count);
    for (size_t i = 0; i < count; ++i)
        items[i] = name == "mask" ? (i < count * 3 / 4 ? 1 : 0)
                                  : static_cast<int64_t>(uniform(random) * kTokens);
    return bytesOf(items);
}

std::string reals(const std::vector<int64_t>& shape, size_t count, uint64_t seed)
{
    std::vector<float> items(count);
    if (shape.size() == 4 && shape[1] == 3 && shape[2] == shape[3]) {
        const Values images = photographs(shape[0], shape[2], seed);
        items.assign(images.items.begin(), images.items.end());
        return bytesOf(items);
    }
    std::mt19937_64 random(seed);
    for (float& item : items) item = static_cast<float>(deviate(random));
    return bytesOf(items);
}

} // namespace

std::vector<TensorProto> zooInputs(const tenon_onnx::ModelProto& model, uint64_t seed)
{
    std::vector<TensorProto> inputs;
    std::mt19937_64 random(seed);
    for (const auto& input : model.graph().input()) {
        const auto& type = input.type().tensor_type();
        TensorProto& tensor = inputs.emplace_back();
        tensor.set_name(input.name());
        tensor.set_data_type(type.elem_type());
        std::vector<int64_t> shape;
        size_t count = 1;
        for (const auto& dim : type.shape().dim()) {
            CHECK(dim.has_dim_value()) << input.name() << " has a size that is not known";
            shape.push_back(dim.dim_value());
            tensor.add_dims(dim.dim_value());
            count *= static_cast<size_t>(dim.dim_value());
        }
        const bool isReal = type.elem_type() == TensorProto::FLOAT;
        tensor.set_raw_data(isReal ? reals(shape, count, seed + inputs.size())
                                   : wholeNumbers(input.name(), count, random));
    }
    return inputs;
}

} // namespace tenon::test
