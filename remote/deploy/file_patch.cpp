// SPDX-License-Identifier: Apache-2.0
// Finding the blocks two files share. The method is that of rsync: blocks of the old file are known
// by a sum that rolls over the new file byte by byte; a hit is compared in full.
#include "remote/deploy/file_patch.h"

#include "runtime/rpc/patch.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <vector>

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

/// Where the blocks of the old file are. Nearly every look is in vain, and most of those end at a
/// table that stays in the cache.
class BlockIndex
{
public:
    explicit BlockIndex(std::span<const std::byte> base)
        : m_mayBeThere(size_t{1} << kTableBits)
    {
        RollingSum sum;
        for (size_t at = 0; at + kBlock <= base.size(); at += kBlock) {
            sum.start(base.subspan(at, kBlock));
            m_blocks.emplace(sum.key(), at);
            m_mayBeThere[place(sum)] = 1;
        }
    }
    bool isEmpty() const { return m_blocks.empty(); }
    const size_t* find(const RollingSum& sum) const
    {
        if (!m_mayBeThere[place(sum)]) return nullptr;
        const auto found = m_blocks.find(sum.key());
        return found == m_blocks.end() ? nullptr : &found->second;
    }

private:
    static constexpr int kTableBits = 20;
    static size_t place(const RollingSum& sum)
    {
        return (sum.plain * 0x9E3779B1u ^ sum.weighted * 0x85EBCA77u) >> (32 - kTableBits);
    }
    std::vector<uint8_t> m_mayBeThere;
    std::unordered_map<uint64_t, size_t> m_blocks;
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
        m_fields.push_back(static_cast<char>(kTenonPatchLiteral));
        putNumber(m_fields, end - m_done);
        m_patch.steps.push_back({std::move(m_fields), m_wanted.subspan(m_done, end - m_done)});
        m_fields.clear();
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
        m_patch.steps.push_back({std::move(m_fields), {}});
        return std::move(m_patch);
    }

private:
    void flushCopy()
    {
        if (m_copySize == 0) return;
        m_fields.push_back(static_cast<char>(kTenonPatchCopy));
        putNumber(m_fields, m_copyStart);
        putNumber(m_fields, m_copySize);
        m_copySize = 0;
    }
    std::span<const std::byte> m_wanted;
    FilePatch m_patch;
    std::string m_fields; ///< of the operations since the last literal
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

std::vector<std::span<const std::byte>> FilePatch::pieces() const
{
    std::vector<std::span<const std::byte>> out;
    for (const Step& step : steps) {
        out.push_back(std::as_bytes(std::span(step.fields)));
        out.push_back(step.literal);
    }
    return out;
}

FilePatch makePatch(std::span<const std::byte> base, std::span<const std::byte> wanted)
{
    const BlockIndex blocks(base);
    RollingSum sum;
    Builder builder(wanted);
    size_t at = 0;
    bool isSummed = false;
    while (!blocks.isEmpty() && at + kBlock <= wanted.size()) {
        if (!isSummed) sum.start(wanted.subspan(at, kBlock));
        isSummed = true;
        const size_t* found = blocks.find(sum);
        const size_t same =
            found ? commonLength(base.subspan(*found), wanted.subspan(at)) : size_t{0};
        if (same >= kBlock) {
            builder.literalUpTo(at);
            builder.copy(*found, same);
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
