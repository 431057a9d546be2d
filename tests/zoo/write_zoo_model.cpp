// SPDX-License-Identifier: Apache-2.0
// tenon-zoo: writes one model of the zoo to a file.
// usage: tenon-zoo NAME OUT.onnx [--nodes N] [--size N] [--batch N] [--divide-channels N] [--seed
// N] [--calibrate IMAGES]
// With --calibrate, batch normalizations have the statistics of so many photograph-like images, and
// beside the model stand another one, OUT.input.npy, and the exact result, OUT.exact.npy.
#include "core/base/file.h"
#include "tests/zoo/calibration.h"
#include "tests/zoo/zoo.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

using tenon::test::ZooOptions;

/// False for an unknown option.
bool setOption(ZooOptions& options, std::string_view name, int64_t value)
{
    if (name == "--nodes")
        options.nodes = value;
    else if (name == "--size")
        options.imageSize = value;
    else if (name == "--batch")
        options.batch = value;
    else if (name == "--divide-channels")
        options.channelDivisor = value;
    else if (name == "--seed")
        options.seed = static_cast<uint64_t>(value);
    else
        return false;
    return true;
}

int printUsage()
{
    std::fprintf(stderr, "usage: tenon-zoo NAME OUT.onnx [--nodes N] [--size N] [--batch N]\n"
                         "                 [--divide-channels N] [--seed N]\n"
                         "                 [--calibrate IMAGES, needs --size]\nnames:");
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

/// Files by suffix.
std::map<std::string, std::string> calibratedFiles(const std::string& model, int64_t images,
                                                   int64_t size)
{
    using namespace tenon::test;
    std::map<std::string, std::string> files;
    files[""] = calibrated(model, photographs(images, size, 1));
    tenon_onnx::ModelProto parsed;
    parsed.ParseFromString(files[""]);
    const Values input = photographs(1, size, 99);
    files[".input.npy"] = npy(input);
    files[".exact.npy"] = npy(evaluatePlainly(parsed, input));
    return files;
}

} // namespace

int main(int argc, char** argv)
{
    if (argc < 3 || argc % 2 == 0) return printUsage();
    ZooOptions options;
    int64_t images = 0;
    for (int i = 3; i + 1 < argc; i += 2)
        if (std::string_view(argv[i]) == "--calibrate")
            images = std::atoll(argv[i + 1]);
        else if (!setOption(options, argv[i], std::atoll(argv[i + 1])))
            return printUsage();
    const std::string bytes = tenon::test::makeZooModel(argv[1], options);
    if (bytes.empty() || (images > 0 && options.imageSize == 0)) return printUsage();
    std::map<std::string, std::string> files{{"", bytes}};
    if (images > 0) files = calibratedFiles(bytes, images, options.imageSize);
    for (const auto& [suffix, content] : files)
        if (const auto written = tenon::core::writeFileAtomically(argv[2] + suffix, content);
            !written) {
            std::fprintf(stderr, "%s\n", written.error().text().c_str());
            return 1;
        }
    return 0;
}
