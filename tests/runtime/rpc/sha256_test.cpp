// SPDX-License-Identifier: Apache-2.0
// SHA-256 against the examples of FIPS 180-4 and NIST's million letters.
#include "runtime/rpc/sha256.h"

#include <gtest/gtest.h>

#include <string>

namespace tenon {
namespace {

std::string digest(const std::string& text, size_t step)
{
    tenon_sha256 hash;
    tenon_sha256_start(&hash);
    for (size_t at = 0; at < text.size(); at += step)
        tenon_sha256_add(&hash, text.data() + at, std::min(step, text.size() - at));
    char hex[TENON_SHA256_HEX];
    tenon_sha256_finish(&hash, hex);
    return hex;
}

TEST(Sha256, agreesWithTheStandard)
{
    for (const size_t step : {1u, 7u, 63u, 64u, 65u, 1000000u}) {
        EXPECT_EQ(digest("", step),
                  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        EXPECT_EQ(digest("abc", step),
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", step),
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        EXPECT_EQ(digest(std::string(1000000, 'a'), step),
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

} // namespace
} // namespace tenon
