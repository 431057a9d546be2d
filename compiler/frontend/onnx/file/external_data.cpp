// SPDX-License-Identifier: Apache-2.0
// Containment of external data: by text first, then by opening one component after the other.
#include "compiler/frontend/onnx/file/external_data.h"

#include "core/base/text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

namespace tenon::compiler {
namespace {

Diagnostic refused(const std::string& why)
{
    return makeError(DiagnosticCode::BadExternalData, why);
}

bool isUtf8(std::string_view text)
{
    for (size_t i = 0; i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i]);
        const size_t length = c < 0x80                ? 1
                              : c >= 0xc2 && c < 0xe0 ? 2
                              : (c & 0xf0) == 0xe0    ? 3
                              : c >= 0xf0 && c < 0xf5 ? 4
                                                      : 0;
        if (length == 0 || i + length > text.size()) return false;
        for (size_t k = 1; k < length; ++k)
            if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return false;
        i += length;
    }
    return true;
}

std::optional<uint64_t> parseSize(std::string_view text)
{
    uint64_t value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size() || text.empty())
        return std::nullopt;
    return value;
}

class Folder
{
public:
    explicit Folder(int fd)
        : m_fd(fd)
    {
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    ~Folder()
    {
        if (m_fd >= 0) ::close(m_fd);
    }
    int get() const { return m_fd; }
    void replace(int fd)
    {
        if (m_fd >= 0) ::close(m_fd);
        m_fd = fd;
    }

private:
    int m_fd;
};

} // namespace

std::string unsafeLocation(std::string_view location)
{
    constexpr size_t kMaxLength = 4096;
    if (location.empty()) return "the location is empty";
    if (location.size() > kMaxLength) return "the location is longer than 4,096 characters";
    if (location.find('\0') != std::string_view::npos) return "the location contains a NUL";
    if (!isUtf8(location)) return "the location is not UTF-8";
    if (location.find('\\') != std::string_view::npos) return "the location contains a backslash";
    if (location.find(':') != std::string_view::npos)
        return "the location names a drive, stream or URL";
    if (location.front() == '/') return "the location is absolute";
    if (location.front() == '~') return "the location names a home folder";
    for (const std::string& part : split(location, '/')) {
        if (part.empty()) return "the location has an empty component";
        if (part == "." || part == "..") return "the location has a `" + part + "` component";
    }
    return {};
}

Result<std::shared_ptr<const MappedFile>> ExternalFiles::open(const std::string& location)
{
    if (const auto known = m_files.find(location); known != m_files.end()) return known->second;
    if (m_folder.empty()) return refused("the model has no folder to read external data from");
    if (const std::string why = unsafeLocation(location); !why.empty())
        return refused(why + "; external data must lie beside the model");

    Folder at(::open(m_folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::vector<std::string> parts = split(location, '/');
    for (size_t i = 0; i < parts.size() && at.get() >= 0; ++i) {
        const bool isLast = i + 1 == parts.size();
        const int flags =
            O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (isLast ? 0 : O_DIRECTORY);
        at.replace(::openat(at.get(), parts[i].c_str(), flags));
    }
    if (at.get() < 0) {
        if (errno == ELOOP || errno == ENOTDIR)
            return refused(quoted(location) +
                           " leads through a symbolic link; put the file itself beside the model");
        return refused("cannot open " + quoted(location) + ": " + std::strerror(errno) +
                       "; put the file beside the model");
    }
    struct stat info = {};
    if (::fstat(at.get(), &info) != 0 || !S_ISREG(info.st_mode))
        return refused(quoted(location) + " is not a regular file");
    if (info.st_nlink > 1)
        return refused(quoted(location) + " has several hard links; copy the file");
    // The descriptor's own path names the file that was checked, whatever happens to the name.
    auto mapped = MappedFile::open("/proc/self/fd/" + std::to_string(at.get()));
    if (!mapped) return refused("cannot map " + quoted(location));
    m_files[location] = *mapped;
    return *mapped;
}

Result<ExternalFiles::Piece> ExternalFiles::read(const tenon_onnx::TensorProto& tensor,
                                                 uint64_t expectedBytes,
                                                 std::vector<Diagnostic>& notes)
{
    std::string location;
    uint64_t offset = 0;
    std::optional<uint64_t> length;
    for (const auto& entry : tensor.external_data()) {
        if (entry.key() == "location") {
            location = entry.value();
        } else if (entry.key() == "offset" || entry.key() == "length") {
            const auto number = parseSize(entry.value());
            if (!number)
                return refused(entry.key() + " " + quoted(entry.value()) +
                               " is no non-negative number");
            if (entry.key() == "offset")
                offset = *number;
            else
                length = *number;
        } else if (entry.key() != "checksum") {
            notes.push_back(
                makeWarning(DiagnosticCode::BadExternalData,
                            "unknown external data key " + quoted(entry.key()) + " is ignored"));
        }
    }
    auto file = open(location);
    if (!file) return file.error();
    const uint64_t size = (*file)->bytes().size();
    if (offset > size || (length && *length > size - offset) || expectedBytes > size - offset)
        return refused("the tensor needs bytes " + std::to_string(offset) + " to " +
                       std::to_string(offset) + "+" +
                       std::to_string(length.value_or(expectedBytes)) + " of " + quoted(location) +
                       ", which has " + std::to_string(size));
    if (length && *length != expectedBytes)
        return refused("length " + std::to_string(*length) +
                       " does not match the tensor, which has " + std::to_string(expectedBytes) +
                       " bytes");
    return Piece{*file, (*file)->bytes().subspan(offset, expectedBytes)};
}

} // namespace tenon::compiler
