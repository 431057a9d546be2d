// SPDX-License-Identifier: Apache-2.0
// File layout: magic, then length-prefixed strings: key, name, bytes, name, bytes, ...; last the
// hash of all before it.
#include "compiler/driver/object_cache.h"

#include "core/base/file.h"
#include "core/base/temporary_folder.h"
#include "core/base/unsynced_file.h"

#include <link.h>

#include <cstring>
#include <filesystem>

namespace tenon::compiler {
namespace {

constexpr std::string_view kMagic = "TENONOBJ1\n";

void append(std::string& out, std::string_view part)
{
    const uint64_t size = part.size();
    out.append(reinterpret_cast<const char*>(&size), sizeof size);
    out.append(part);
}

std::optional<std::string_view> take(std::string_view& rest)
{
    uint64_t size = 0;
    if (rest.size() < sizeof size) return std::nullopt;
    std::memcpy(&size, rest.data(), sizeof size);
    rest.remove_prefix(sizeof size);
    if (size > rest.size()) return std::nullopt;
    const std::string_view part = rest.substr(0, size);
    rest.remove_prefix(size);
    return part;
}

/// The linker's build-id note of the running program.
int noteBuildId(dl_phdr_info* info, size_t, void* out)
{
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = info->dlpi_phdr[i];
        if (header.p_type != PT_NOTE) continue;
        const char* note = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
        const char* const end = note + header.p_memsz;
        while (note + sizeof(ElfW(Nhdr)) <= end) {
            ElfW(Nhdr) head;
            std::memcpy(&head, note, sizeof head);
            const char* name = note + sizeof head;
            const char* text = name + ((head.n_namesz + 3) & ~3u);
            if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 &&
                std::memcmp(name, "GNU", 4) == 0) {
                static_cast<std::string*>(out)->assign(text, head.n_descsz);
                return 1;
            }
            note = text + ((head.n_descsz + 3) & ~3u);
        }
    }
    return 1; // only the first object: the program itself
}

} // namespace

ObjectCache::ObjectCache(std::string folder)
    : m_folder(std::move(folder))
{
    if (!m_folder.empty()) sweepFoldersIn(m_folder);
}

std::string ObjectCache::pathOf(const std::string& key) const
{
    const std::string hex = hashBytes(key).hex();
    return m_folder + "/" + hex.substr(0, 2) + "/" + hex.substr(2) + ".obj";
}

std::optional<ObjectCache::Entry> ObjectCache::find(const std::string& key) const
{
    if (m_folder.empty()) return std::nullopt;
    const auto content = readFile(pathOf(key));
    if (!content || !content->starts_with(kMagic) || content->size() < kMagic.size() + 32)
        return std::nullopt;
    std::string_view rest = *content;
    const std::string_view sum = rest.substr(rest.size() - 32);
    rest.remove_suffix(32);
    if (hashBytes(rest).hex() != sum) return std::nullopt;
    rest.remove_prefix(kMagic.size());
    if (const auto stored = take(rest); !stored || *stored != key) return std::nullopt;
    Entry entry;
    while (!rest.empty()) {
        const auto name = take(rest);
        const auto bytes = take(rest);
        if (!name || !bytes) return std::nullopt;
        entry.emplace(*name, *bytes);
    }
    return entry;
}

void ObjectCache::store(const std::string& key, const Entry& entry) const
{
    if (m_folder.empty()) return;
    std::string content(kMagic);
    append(content, key);
    for (const auto& [name, bytes] : entry) {
        append(content, name);
        append(content, bytes);
    }
    content += hashBytes(content).hex();
    const std::string path = pathOf(key);
    std::error_code failed;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
    if (!failed) static_cast<void>(static_cast<bool>(writeFileUnsynced(path, content, m_folder)));
}

std::string compilerBuildId()
{
    std::string id;
    dl_iterate_phdr(noteBuildId, &id);
    return Hash128(hashBytes(id)).hex();
}

} // namespace tenon::compiler
