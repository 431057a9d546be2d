// SPDX-License-Identifier: Apache-2.0
// Finding the blocks two files share. The method is that of rsync: blocks of the old file are known
// by a sum that rolls over the new file byte by byte; a hit is compared in full.
#include "remote/deploy/file_patch.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace tenon::remote {

namespace {

constexpr size_t kBlock = 2048;

/// Sum of the bytes, and of the bytes weighted by their distance from the end.
struct RollingSum
{
    uint32_t plain = 0;
    uint32_t weighted = 0;

    void start(std::span<const std::byte> block)
    {
        plain = weighted = 0;
        for (const std::byte b : block) {
            plain += static_cast<uint32_t>(b);
            weighted += plain;
        }
    }
    void roll(std::byte out, std::byte in)
    {
        plain += static_cast<uint32_t>(in) - static_cast<uint32_t>(out);
        weighted += plain - static_cast<uint32_t>(kBlock) * static_cast<uint32_t>(out);
    }
    uint64_t key() const { return uint64_t{plain} << 32 | weighted; }
};

void putNumber(std::string& out, uint64_t value)
{
    for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

class Builder
{
public:
    explicit Builder(std::span<const std::byte> wanted)
        : m_wanted(wanted)
    {
    }
    /// Everything before `end` that is not written yet is new.
    void literalUpTo(size_t end)
    {
        if (end == m_done) return;
        flushCopy();
        m_patch.ops.push_back(1);
        putNumber(m_patch.ops, end - m_done);
        m_patch.ops.append(reinterpret_cast<const char*>(m_wanted.data()) + m_done, end - m_done);
        m_patch.literalBytes += static_cast<int64_t>(end - m_done);
        m_done = end;
    }
    void copy(size_t offset, size_t size)
    {
        if (m_copySize > 0 && offset == m_copyStart + m_copySize) {
            m_copySize += size;
        } else {
            flushCopy();
            m_copyStart = offset;
            m_copySize = size;
        }
        m_done += size;
    }
    FilePatch finish()
    {
        literalUpTo(m_wanted.size());
        flushCopy();
        return std::move(m_patch);
    }

private:
    void flushCopy()
    {
        if (m_copySize == 0) return;
        m_patch.ops.push_back(0);
        putNumber(m_patch.ops, m_copyStart);
        putNumber(m_patch.ops, m_copySize);
        m_copySize = 0;
    }
    std::span<const std::byte> m_wanted;
    FilePatch m_patch;
    size_t m_done = 0;
    size_t m_copyStart = 0;
    size_t m_copySize = 0;
};

/// How far both go on alike.
size_t commonLength(std::span<const std::byte> a, std::span<const std::byte> b)
{
    const size_t most = std::min(a.size(), b.size());
    return static_cast<size_t>(
        std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(most), b.begin()).first -
        a.begin());
}

} // namespace

FilePatch makePatch(std::span<const std::byte> base, std::span<const std::byte> wanted)
{
    std::unordered_map<uint64_t, size_t> blocks;
    RollingSum sum;
    for (size_t at = 0; at + kBlock <= base.size(); at += kBlock) {
        sum.start(base.subspan(at, kBlock));
        blocks.emplace(sum.key(), at);
    }
    Builder builder(wanted);
    size_t at = 0;
    bool isSummed = false;
    while (at + kBlock <= wanted.size()) {
        if (!isSummed) sum.start(wanted.subspan(at, kBlock));
        isSummed = true;
        const auto found = blocks.find(sum.key());
        const size_t same = found == blocks.end()
                                ? 0
                                : commonLength(base.subspan(found->second), wanted.subspan(at));
        if (same >= kBlock) {
            builder.literalUpTo(at);
            builder.copy(found->second, same);
            at += same;
            isSummed = false;
            continue;
        }
        if (at + kBlock < wanted.size()) sum.roll(wanted[at], wanted[at + kBlock]);
        ++at;
    }
    return builder.finish();
}

} // namespace tenon::remote
