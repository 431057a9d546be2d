// SPDX-License-Identifier: Apache-2.0
// tenon-zoo: writes one model of the zoo to a file; printUsage() has the options.
#include "core/base/file.h"
#include "tests/zoo/batch_statistics.h"
#include "tests/zoo/calibration.h"
#include "tests/zoo/zoo.h"
#include "tests/zoo/zoo_inputs.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace {

using tenon::test::ZooOptions;

using Files = std::map<std::string, std::string>; ///< contents by path

struct Wanted
{
    ZooOptions options;
    int64_t calibrationImages = 0;
    bool hasInputs = false;
    bool isMeasuring = false;
    std::string statistics; ///< folder
};

/// False for an unknown option.
bool setOption(Wanted& wanted, std::string_view name, const char* text)
{
    const int64_t value = std::atoll(text);
    if (name == "--nodes")
        wanted.options.nodes = value;
    else if (name == "--size")
        wanted.options.imageSize = value;
    else if (name == "--batch")
        wanted.options.batch = value;
    else if (name == "--divide-channels")
        wanted.options.channelDivisor = value;
    else if (name == "--seed")
        wanted.options.seed = static_cast<uint64_t>(value);
    else if (name == "--calibrate")
        wanted.calibrationImages = value;
    else if (name == "--inputs")
        wanted.hasInputs = value != 0;
    else if (name == "--measure-statistics")
        wanted.isMeasuring = value != 0;
    else if (name == "--statistics")
        wanted.statistics = text;
    else
        return false;
    return true;
}

int printUsage()
{
    std::fprintf(stderr,
                 "usage: tenon-zoo NAME OUT.onnx [--nodes N] [--size N] [--batch N]\n"
                 "                 [--divide-channels N] [--seed N]\n"
                 "       --inputs 1: also test_data_set_0/input_*.pb beside it\n"
                 "       --calibrate IMAGES (needs --size): batch normalizations have the\n"
                 "         statistics of so many photograph-like images; beside it another one,\n"
                 "         OUT.input.npy, and the exact result, OUT.exact.npy\n"
                 "       --measure-statistics 1: a model whose outputs are the statistics of its\n"
                 "         normalizations; prints how many it has, and writes none where it is 0\n"
                 "       --statistics FOLDER: with what that model wrote there, output_*.pb\n"
                 "names:");
    for (const auto& entry : tenon::test::zooEntries()) std::fprintf(stderr, " %s", entry.name);
    std::fprintf(stderr, "\n");
    return 2;
}

/// A NumPy file.
std::string npy(const tenon::test::Values& values)
{
    std::string shape;
    for (const int64_t extent : values.shape) shape += std::to_string(extent) + ", ";
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
    header.resize((header.size() + 10) / 64 * 64 + 117, ' ');
    header += '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size() % 256);
    bytes += static_cast<char>(header.size() / 256);
    bytes += header;
    for (const double item : values.items) {
        const auto value = static_cast<float>(item);
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    return bytes;
}

Files calibratedFiles(const std::string& path, const std::string& model, const Wanted& wanted)
{
    using namespace tenon::test;
    const int64_t size = wanted.options.imageSize;
    Files files;
    files[path] = calibrated(model, photographs(wanted.calibrationImages, size, 1));
    tenon_onnx::ModelProto parsed;
    parsed.ParseFromString(files[path]);
    const Values input = photographs(1, size, 99);
    files[path + ".input.npy"] = npy(input);
    files[path + ".exact.npy"] = npy(evaluatePlainly(parsed, input));
    return files;
}

std::vector<tenon_onnx::TensorProto> tensorsIn(const std::string& folder)
{
    std::vector<tenon_onnx::TensorProto> tensors;
    for (;;) {
        const auto bytes =
            tenon::core::readFile(folder + "/output_" + std::to_string(tensors.size()) + ".pb");
        if (!bytes) return tensors;
        tensors.emplace_back().ParseFromString(*bytes);
    }
}

Files filesOf(const std::string& path, const std::string& bytes, const Wanted& wanted)
{
    using namespace tenon::test;
    if (wanted.calibrationImages > 0) return calibratedFiles(path, bytes, wanted);
    tenon_onnx::ModelProto model;
    model.ParseFromString(bytes);
    Files files;
    if (wanted.hasInputs) {
        const auto folder = std::filesystem::path(path).parent_path() / "test_data_set_0";
        std::filesystem::create_directories(folder);
        const auto inputs = zooInputs(model, wanted.options.seed + 1);
        for (size_t i = 0; i < inputs.size(); ++i)
            files[folder / ("input_" + std::to_string(i) + ".pb")] = inputs[i].SerializeAsString();
    }
    if (wanted.isMeasuring) {
        const int count = normalizationsOf(model);
        std::printf("%d\n", count);
        if (count == 0) return {};
        model = measuringStatistics(model);
    }
    if (!wanted.statistics.empty()) model = withStatistics(model, tensorsIn(wanted.statistics));
    files[path] = model.SerializeAsString();
    return files;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 3 || argc % 2 == 0) return printUsage();
    Wanted wanted;
    for (int i = 3; i + 1 < argc; i += 2)
        if (!setOption(wanted, argv[i], argv[i + 1])) return printUsage();
    const std::string bytes = tenon::test::makeZooModel(argv[1], wanted.options);
    if (bytes.empty() || (wanted.calibrationImages > 0 && wanted.options.imageSize == 0))
        return printUsage();
    for (const auto& [path, content] : filesOf(argv[2], bytes, wanted))
        if (const auto written = tenon::core::writeFileAtomically(path, content); !written) {
            std::fprintf(stderr, "%s\n", written.error().text().c_str());
            return 1;
        }
    return 0;
}
