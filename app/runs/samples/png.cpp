// SPDX-License-Identifier: Apache-2.0
// PNG by libpng: 8 bits, colours as they are stored; transparency is left out.
#include "app/runs/samples/picture.h"

#include <png.h>

#include <cstring>

namespace tenon::runs {

namespace {

Diagnostic pngError(const png_image& image)
{
    return makeError(DiagnosticCode::BadArgument, std::string("the PNG picture is damaged: ") +
                                                      image.message + "; save it anew");
}

} // namespace

Result<Picture> decodePng(std::string_view bytes)
{
    png_image image;
    std::memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_memory(&image, bytes.data(), bytes.size()))
        return pngError(image);
    if (Status sized = checkPictureSize(image.width, image.height); !sized) {
        png_image_free(&image);
        return sized.error();
    }
    image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB; // as every viewer takes files without a gamma
    image.format = PNG_FORMAT_RGBA;
    std::vector<uint8_t> all(PNG_IMAGE_SIZE(image));
    if (!png_image_finish_read(&image, nullptr, all.data(), 0, nullptr)) return pngError(image);
    Picture out{image.width, image.height, {}};
    out.pixels.reserve(all.size() / 4 * 3);
    for (size_t i = 0; i < all.size(); i += 4)
        out.pixels.insert(out.pixels.end(), {all[i], all[i + 1], all[i + 2]});
    return out;
}

} // namespace tenon::runs
