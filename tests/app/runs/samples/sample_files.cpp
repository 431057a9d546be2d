// SPDX-License-Identifier: Apache-2.0
// Pictures by their libraries, sounds by hand.
#include "tests/app/runs/samples/sample_files.h"

#include <jpeglib.h>
#include <png.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace tenon::test {

runs::Picture patternedPicture(int64_t width, int64_t height)
{
    runs::Picture picture{width, height, {}};
    for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x)
            for (int64_t c = 0; c < 3; ++c)
                picture.pixels.push_back(static_cast<uint8_t>((x * 37 + y * 91 + c * 53) % 256));
    return picture;
}

void writePng(const std::string& path, const runs::Picture& picture)
{
    png_image image;
    std::memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    image.width = static_cast<png_uint_32>(picture.width);
    image.height = static_cast<png_uint_32>(picture.height);
    image.format = PNG_FORMAT_RGB;
    CHECK(png_image_write_to_file(&image, path.c_str(), 0, picture.pixels.data(), 0, nullptr) != 0)
        << image.message;
}

std::string jpegBytes(const runs::Picture& picture)
{
    jpeg_compress_struct encoder;
    jpeg_error_mgr errors;
    encoder.err = jpeg_std_error(&errors);
    jpeg_create_compress(&encoder);
    unsigned char* bytes = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&encoder, &bytes, &size);
    encoder.image_width = static_cast<JDIMENSION>(picture.width);
    encoder.image_height = static_cast<JDIMENSION>(picture.height);
    encoder.input_components = 3;
    encoder.in_color_space = JCS_RGB;
    jpeg_set_defaults(&encoder);
    jpeg_set_quality(&encoder, 100, TRUE);
    jpeg_start_compress(&encoder, TRUE);
    std::vector<uint8_t> pixels = picture.pixels;
    while (encoder.next_scanline < encoder.image_height) {
        JSAMPROW row = &pixels[static_cast<size_t>(encoder.next_scanline) *
                               static_cast<size_t>(picture.width) * 3];
        jpeg_write_scanlines(&encoder, &row, 1);
    }
    jpeg_finish_compress(&encoder);
    std::string out(reinterpret_cast<const char*>(bytes), size);
    jpeg_destroy_compress(&encoder);
    std::free(bytes);
    return out;
}

std::string wavBytes(uint32_t rate, uint16_t channels, const std::vector<int16_t>& samples)
{
    std::string out;
    const auto put = [&](const auto& value) {
        out.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    const auto bytes = static_cast<uint32_t>(samples.size() * 2);
    out += "RIFF";
    put(uint32_t{36} + bytes);
    out += "WAVEfmt ";
    put(uint32_t{16});
    put(uint16_t{1});
    put(channels);
    put(rate);
    put(rate * channels * 2);
    put(static_cast<uint16_t>(channels * 2));
    put(uint16_t{16});
    out += "data";
    put(bytes);
    for (const int16_t sample : samples) put(sample);
    return out;
}

void writeText(const std::string& path, const std::string& bytes)
{
    std::ofstream(path, std::ios::binary) << bytes;
}

} // namespace tenon::test
