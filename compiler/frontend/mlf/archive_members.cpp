// SPDX-License-Identifier: Apache-2.0
// libarchive reads tar in all its dialects; what it finds is checked before it is believed.
#include "compiler/frontend/mlf/archive_members.h"

#include "core/base/printable.h"
#include "core/base/text.h"

#include <archive.h>
#include <archive_entry.h>

#include <memory>

namespace tenon::compiler {
namespace {

using core::DiagnosticCode;
using core::makeError;
using core::Result;
using core::Status;

constexpr size_t kMagicAt = 257;
constexpr size_t kMostMembers = 100'000;

using Archive = std::unique_ptr<archive, int (*)(archive*)>;

core::Diagnostic badMember(const std::string& name, const std::string& why)
{
    return makeError(DiagnosticCode::BadModel,
                     "member " + core::quoted(core::elided(name)) + " " + why);
}

/// Without "./" before and "/" behind; "" for the root folder.
Result<std::string> plainPath(const std::string& name)
{
    if (name.starts_with('/')) return badMember(name, "has a path from the root");
    std::vector<std::string> parts;
    for (const std::string& part : core::split(name, '/')) {
        if (part == "..") return badMember(name, "has a path that leaves the archive");
        if (!part.empty() && part != ".") parts.push_back(part);
    }
    return core::join(parts, "/");
}

Status checkKind(archive_entry* entry, const std::string& name)
{
    if (archive_entry_hardlink(entry) || archive_entry_symlink(entry))
        return badMember(name, "is a link; a library holds files and folders");
    const auto kind = archive_entry_filetype(entry);
    if (kind == AE_IFREG || kind == AE_IFDIR) return core::kDone;
    return badMember(name, "is neither a file nor a folder");
}

Status checkSize(archive_entry* entry, const std::string& name, size_t archiveBytes)
{
    const int64_t size = archive_entry_size(entry);
    // A sparse member may say that it is larger than what it holds.
    if (size >= 0 && static_cast<uint64_t>(size) <= archiveBytes &&
        archive_entry_sparse_count(entry) == 0)
        return core::kDone;
    return badMember(name, "says that it has " + std::to_string(size) +
                               " bytes, but the archive has " + std::to_string(archiveBytes));
}

Result<std::string> contentOf(archive* in, archive_entry* entry, const std::string& name)
{
    std::string content(static_cast<size_t>(archive_entry_size(entry)), '\0');
    size_t filled = 0;
    while (filled < content.size()) {
        const la_ssize_t got =
            archive_read_data(in, content.data() + filled, content.size() - filled);
        if (got <= 0) return badMember(name, "ends early");
        filled += static_cast<size_t>(got);
    }
    return content;
}

} // namespace

bool looksLikeTar(std::string_view bytes)
{
    return bytes.size() >= 512 && bytes.substr(kMagicAt, 5) == "ustar";
}

Result<ArchiveMembers> readArchive(std::string_view bytes,
                                   const std::function<bool(const std::string&)>& isWanted)
{
    const Archive in(archive_read_new(), archive_read_free);
    archive_read_support_format_tar(in.get());
    const auto damaged = [&] {
        const char* why = archive_error_string(in.get());
        return makeError(DiagnosticCode::BadModel,
                         std::string("the archive is damaged: ") + (why ? why : "unknown reason"));
    };
    if (archive_read_open_memory(in.get(), bytes.data(), bytes.size()) != ARCHIVE_OK)
        return damaged();
    ArchiveMembers members;
    for (size_t count = 0;; ++count) {
        archive_entry* entry = nullptr;
        const int status = archive_read_next_header(in.get(), &entry);
        if (status == ARCHIVE_EOF) return members;
        if (status != ARCHIVE_OK) return damaged();
        const char* said = archive_entry_pathname(entry);
        const std::string name = said ? said : "";
        if (count >= kMostMembers) return badMember(name, "is one of too many");
        auto path = plainPath(name);
        if (!path) return path.error();
        if (Status fine = checkKind(entry, name); !fine) return fine.error();
        if (archive_entry_filetype(entry) == AE_IFDIR) continue;
        if (path->empty()) return badMember(name, "has no name");
        if (Status fine = checkSize(entry, name, bytes.size()); !fine) return fine.error();
        if (members.contains(*path)) return badMember(name, "is there twice");
        auto content = isWanted(*path) ? contentOf(in.get(), entry, name) : std::string();
        if (!content) return content.error();
        members.emplace(std::move(*path), std::move(*content));
    }
}

} // namespace tenon::compiler
