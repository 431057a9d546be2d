// SPDX-License-Identifier: Apache-2.0
// ObjectCache: compiled kernels on disk, addressed by content; every hit is verified by comparing
// the full key.
#pragma once

#include "core/base/hash.h"

#include <map>
#include <optional>
#include <string>

namespace tenon::compiler {

using namespace core;

/// Named byte strings stored under one key. Missing, torn or foreign files are misses, never
/// errors.
class ObjectCache
{
public:
    using Entry = std::map<std::string, std::string>;

    explicit ObjectCache(std::string folder); ///< empty: always misses

    std::optional<Entry> find(const std::string& key) const;
    void store(const std::string& key,
               const Entry& entry) const; ///< failures only cost the next compile

private:
    std::string pathOf(const std::string& key) const;
    std::string m_folder;
};

/// Identifies this build of the compiler, so that caches never outlive the code that wrote them.
std::string compilerBuildId();

} // namespace tenon::compiler
