// SPDX-License-Identifier: Apache-2.0
// Which function of an image an address lies in.
#pragma once

#include <cstdint>
#include <string>

namespace tenon::remote {

/// Its name by binutils' nm; empty where no symbol with a size holds the address, or without nm.
std::string symbolAt(const std::string& image, uint64_t address);

} // namespace tenon::remote
