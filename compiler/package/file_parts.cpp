// SPDX-License-Identifier: Apache-2.0
// Files are read rather than mapped: one that somebody cuts off meanwhile is another file then, not
// a SIGBUS.
#include "compiler/package/file_parts.h"

#include "core/base/descriptor.h"
#include "core/base/sync.h"
#include "core/jobs/job.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

namespace tenon::compiler {
namespace {

/// What is written at a time: whole large pages, for the system keeps in such what one call fills.
constexpr size_t kBatchBytes = size_t{4} << 20;
constexpr size_t kBatchPieces = 512; ///< systems take 1024
/// Batches from this size on are worth a call that begins to write them out.
constexpr size_t kBegunBytes = size_t{1} << 20;
/// What one thread compares before it takes the next piece.
constexpr size_t kPieceBytes = size_t{4} << 20;
/// What is read at a time: it stays in the second-level cache until it is compared.
constexpr size_t kReadBytes = size_t{256} << 10;

/// A stretch of one part, and where the file should hold it.
struct Piece
{
    std::span<const std::byte> bytes;
    uint64_t offset = 0;
};

std::vector<Piece> piecesOf(const FileParts& parts)
{
    std::vector<Piece> pieces;
    uint64_t offset = 0;
    for (std::span<const std::byte> part : parts) {
        while (!part.empty()) {
            const size_t size = std::min(part.size(), kPieceBytes);
            pieces.push_back({part.first(size), offset});
            part = part.subspan(size);
            offset += size;
        }
    }
    return pieces;
}

bool holds(int fd, const Piece& piece, std::vector<std::byte>& buffer)
{
    for (size_t done = 0; done < piece.bytes.size();) {
        const size_t wanted = std::min(piece.bytes.size() - done, buffer.size());
        const ssize_t got =
            ::pread(fd, buffer.data(), wanted, static_cast<off_t>(piece.offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        const size_t count = static_cast<size_t>(got);
        if (std::memcmp(buffer.data(), piece.bytes.data() + done, count) != 0) return false;
        done += count;
    }
    return true;
}

bool holdsAll(int fd, const FileParts& parts)
{
    struct stat info = {};
    if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    const std::vector<Piece> pieces = piecesOf(parts);
    const uint64_t size = pieces.empty() ? 0 : pieces.back().offset + pieces.back().bytes.size();
    if (static_cast<uint64_t>(info.st_size) != size) return false;
    const unsigned threads = size < kPieceBytes ? 1 : std::thread::hardware_concurrency();
    std::atomic<bool> isSame{true};
    const core::Status compared =
        core::JobContext(threads).parallelFor(pieces.size(), [&](size_t i) -> core::Status {
            std::vector<std::byte> buffer(std::min(kReadBytes, pieces[i].bytes.size()));
            if (isSame && !holds(fd, pieces[i], buffer)) isSame = false;
            return core::kDone;
        });
    return compared && isSame;
}

/// Gathers parts until they fill what is written at a time.
class Batch
{
public:
    explicit Batch(int fd)
        : m_fd(fd)
    {
    }

    bool add(std::span<const std::byte> part)
    {
        while (!part.empty()) {
            const size_t size = std::min(part.size(), m_room);
            m_pieces.push_back({const_cast<std::byte*>(part.data()), size});
            m_room -= size;
            part = part.subspan(size);
            if ((m_room == 0 || m_pieces.size() == kBatchPieces) && !write()) return false;
        }
        return true;
    }

    bool write()
    {
        size_t written = 0;
        for (size_t first = 0; first < m_pieces.size();) {
            const ssize_t got =
                ::writev(m_fd, &m_pieces[first], static_cast<int>(m_pieces.size() - first));
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return false;
            written += static_cast<size_t>(got);
            first = skip(first, static_cast<size_t>(got));
        }
        if (written >= kBegunBytes) ::sync_file_range(m_fd, 0, 0, SYNC_FILE_RANGE_WRITE);
        m_pieces.clear();
        if (m_room == 0) m_room = kBatchBytes; // else the next batch ends at the same offset
        return true;
    }

private:
    /// The first piece that is not written entirely; what is written of it is taken off.
    size_t skip(size_t first, size_t bytes)
    {
        for (; first < m_pieces.size() && bytes >= m_pieces[first].iov_len; ++first)
            bytes -= m_pieces[first].iov_len;
        if (bytes > 0) {
            m_pieces[first].iov_base = static_cast<std::byte*>(m_pieces[first].iov_base) + bytes;
            m_pieces[first].iov_len -= bytes;
        }
        return first;
    }

    int m_fd;
    size_t m_room = kBatchBytes; ///< until the offset where a batch ends
    std::vector<iovec> m_pieces;
};

} // namespace

core::Status writeParts(const FileParts& parts, const std::string& path)
{
    const auto ioError = [&] {
        return core::makeError(core::DiagnosticCode::IoFailure,
                               std::string("cannot write: ") + std::strerror(errno),
                               {.file = path});
    };
    const core::Descriptor out(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0777));
    if (out.get() < 0) return ioError();
    // Room that is there costs less than room that is found page by page, and what lacks is known
    // at once. Not every file system can give it.
    uint64_t size = 0;
    for (const std::span<const std::byte> part : parts) size += part.size();
    if (size >= kBegunBytes && ::fallocate(out.get(), 0, 0, static_cast<off_t>(size)) != 0 &&
        errno == ENOSPC)
        return ioError();
    Batch batch(out.get());
    for (const std::span<const std::byte> part : parts)
        if (!batch.add(part)) return ioError();
    if (!batch.write()) return ioError();
    return core::kDone;
}

bool keepIfSame(const FileParts& parts, const std::string& path)
{
    const core::Descriptor file(
        ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.get() < 0 || !holdsAll(file.get(), parts)) return false;
    // Who wrote it may have been stopped before it was durable.
    return ::futimens(file.get(), nullptr) == 0 && ::fsync(file.get()) == 0 &&
           core::syncFolderOf(path);
}

} // namespace tenon::compiler
