// SPDX-License-Identifier: Apache-2.0
// JPEG by libjpeg: its errors come as jumps, which stay within one function without objects.
#include "app/runs/samples/picture.h"

#include <jpeglib.h>

#include <array>
#include <csetjmp>
#include <cstdio>

namespace tenon::runs {

namespace {

/// What libjpeg calls when it cannot go on.
struct Failing
{
    jpeg_error_mgr base; ///< first: the library knows its address only
    std::jmp_buf back;
    std::array<char, JMSG_LENGTH_MAX> text;
};

void fail(j_common_ptr decoder)
{
    auto* failing = reinterpret_cast<Failing*>(decoder->err);
    decoder->err->format_message(decoder, failing->text.data());
    std::longjmp(failing->back, 1);
}

/// Warnings are what a damaged file gives: the rest of the picture would be grey.
void warn(j_common_ptr decoder, int level)
{
    if (level < 0) fail(decoder);
}

/// Called by `decode` before the first row, and with every row.
struct Taker
{
    bool (*begin)(void* self, JDIMENSION width, JDIMENSION height);
    JSAMPLE* (*row)(void* self, JDIMENSION y);
    void* self;
};

/// False with a text in `failing`, which is empty where `begin` said no. There are no objects with
/// destructors here: a jump leaves none behind.
bool decode(std::string_view bytes, const Taker& taker, Failing& failing)
{
    jpeg_decompress_struct decoder;
    decoder.err = jpeg_std_error(&failing.base);
    failing.base.error_exit = fail;
    failing.base.emit_message = warn;
    failing.text[0] = 0;
    jpeg_create_decompress(&decoder);
    if (setjmp(failing.back) != 0) {
        jpeg_destroy_decompress(&decoder);
        return false;
    }
    jpeg_mem_src(&decoder, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&decoder, TRUE);
    decoder.out_color_space = JCS_RGB;
    if (!taker.begin(taker.self, decoder.image_width, decoder.image_height)) {
        jpeg_destroy_decompress(&decoder);
        return false;
    }
    jpeg_start_decompress(&decoder);
    while (decoder.output_scanline < decoder.output_height) {
        JSAMPROW row = taker.row(taker.self, decoder.output_scanline);
        jpeg_read_scanlines(&decoder, &row, 1);
    }
    jpeg_finish_decompress(&decoder);
    jpeg_destroy_decompress(&decoder);
    return true;
}

} // namespace

Result<Picture> decodeJpeg(std::string_view bytes)
{
    Picture out;
    const Taker taker{
        [](void* self, JDIMENSION width, JDIMENSION height) {
            if (!checkPictureSize(width, height)) return false;
            auto& picture = *static_cast<Picture*>(self);
            picture = {width, height, std::vector<uint8_t>(size_t{width} * size_t{height} * 3)};
            return true;
        },
        [](void* self, JDIMENSION y) -> JSAMPLE* {
            auto& picture = *static_cast<Picture*>(self);
            return &picture.pixels[size_t{y} * static_cast<size_t>(picture.width) * 3];
        },
        &out};
    Failing failing;
    if (decode(bytes, taker, failing)) return out;
    if (failing.text[0] == 0)
        return makeError(DiagnosticCode::BadArgument,
                         "the JPEG picture is too large; scale it down");
    return makeError(DiagnosticCode::BadArgument, std::string("the JPEG picture is damaged: ") +
                                                      failing.text.data() + "; save it anew");
}

} // namespace tenon::runs
