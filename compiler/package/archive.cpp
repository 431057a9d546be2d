// SPDX-License-Identifier: Apache-2.0
// Tar through libarchive.
#include "compiler/package/archive.h"

#include "core/base/file.h"
#include "core/base/text.h"

#include <archive.h>
#include <archive_entry.h>

#include <cstring>
#include <memory>

namespace tenon::compiler {
namespace {

using Archive = std::unique_ptr<archive, int (*)(archive*)>;
using Entry = std::unique_ptr<archive_entry, void (*)(archive_entry*)>;

core::Diagnostic archiveError(const std::string& path, archive* out)
{
    // The library's own words are only "Write error".
    const int code = archive_errno(out);
    const char* reason = code > 0 ? std::strerror(code) : archive_error_string(out);
    return core::makeError(core::DiagnosticCode::IoFailure,
                           std::string("cannot write: ") + (reason ? reason : "unknown reason"),
                           {.file = path});
}

/// Who owns it and when it was made are the same everywhere.
Entry entryOf(const std::string& name)
{
    Entry entry(archive_entry_new(), archive_entry_free);
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_mtime(entry.get(), 0, 0);
    archive_entry_set_uid(entry.get(), 0);
    archive_entry_set_gid(entry.get(), 0);
    archive_entry_set_uname(entry.get(), "root");
    archive_entry_set_gname(entry.get(), "root");
    return entry;
}

core::Status addFolder(archive* out, const std::string& outputPath, const TarMember& member)
{
    const Entry entry = entryOf(member.name);
    archive_entry_set_size(entry.get(), 0);
    archive_entry_set_filetype(entry.get(), AE_IFDIR);
    archive_entry_set_perm(entry.get(), 0755);
    if (archive_write_header(out, entry.get()) != ARCHIVE_OK) return archiveError(outputPath, out);
    return core::kDone;
}

core::Status addMember(archive* out, const std::string& outputPath, const TarMember& member)
{
    if (member.path.empty()) return addFolder(out, outputPath, member);
    const core::Result<std::shared_ptr<const core::MappedFile>> file =
        core::MappedFile::open(member.path);
    if (!file) return file.error();
    const std::span<const std::byte> bytes = (*file)->bytes();
    const Entry entry = entryOf(member.name);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    if (archive_write_header(out, entry.get()) != ARCHIVE_OK) return archiveError(outputPath, out);
    const la_ssize_t written = archive_write_data(out, bytes.data(), bytes.size());
    if (written != static_cast<la_ssize_t>(bytes.size())) return archiveError(outputPath, out);
    return core::kDone;
}

} // namespace

core::Status writeTar(const std::string& outputPath, const std::vector<TarMember>& members)
{
    const Archive out(archive_write_new(), archive_write_free);
    archive_write_set_format_ustar(out.get());
    if (archive_write_open_filename(out.get(), outputPath.c_str()) != ARCHIVE_OK)
        return archiveError(outputPath, out.get());
    for (const TarMember& member : members)
        if (const core::Status added = addMember(out.get(), outputPath, member); !added)
            return added.error();
    if (archive_write_close(out.get()) != ARCHIVE_OK) return archiveError(outputPath, out.get());
    return core::kDone;
}

} // namespace tenon::compiler
