// SPDX-License-Identifier: Apache-2.0
// Sums and copies of blocks, timed in pieces so short that other load disturbs few of them.
#include "remote/roofline/bandwidth.h"

#include "remote/roofline/beyond_caches.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace tenon::remote {
namespace {

constexpr size_t kTimedBytes = size_t{1} << 20; ///< a tenth of a millisecond: most are undisturbed
constexpr size_t kTotalBytes = size_t{128} << 20;
constexpr size_t kVectorBytes = 64;
constexpr size_t kSums = 8;

using Vector = uint64_t __attribute__((vector_size(kVectorBytes)));
/// As wide as the processor's own: GCC takes wider ones apart through memory.
using HalfVector = uint64_t __attribute__((vector_size(kVectorBytes / 2), may_alias));
using QuarterVector = uint64_t __attribute__((vector_size(kVectorBytes / 4), may_alias));

/// Vectors at their own alignment: the allocator of std::vector does not give it to them.
class Block
{
public:
    Block(size_t vectors, uint64_t value)
        : m_bytes((vectors + 1) * kVectorBytes)
    {
        void* at = m_bytes.data();
        size_t room = m_bytes.size();
        m_vectors =
            static_cast<Vector*>(std::align(kVectorBytes, vectors * kVectorBytes, at, room));
        for (size_t i = 0; i < vectors; ++i) m_vectors[i] = Vector{} + value;
    }
    Vector* data() { return m_vectors; }

private:
    std::vector<std::byte> m_bytes;
    Vector* m_vectors = nullptr;
};

#define TENON_READ_LOOP(name, target, Part)                                                        \
    [[gnu::noinline]] target uint64_t name(const Vector* block, size_t count)                      \
    {                                                                                              \
        const auto* parts = reinterpret_cast<const Part*>(block);                                  \
        const size_t all = count * (kVectorBytes / sizeof(Part));                                  \
        Part sums[kSums] = {};                                                                     \
        for (size_t i = 0; i + kSums <= all; i += kSums)                                           \
            for (size_t k = 0; k < kSums; ++k) sums[k] ^= parts[i + k];                            \
        for (size_t k = 1; k < kSums; ++k) sums[0] ^= sums[k];                                     \
        uint64_t word = 0;                                                                         \
        for (size_t k = 0; k < sizeof(Part) / sizeof(word); ++k) word ^= sums[0][k];               \
        return word;                                                                               \
    }

/// The fence keeps the compiler from calling the library's copy again.
#define TENON_COPY_LOOP(name, target)                                                              \
    [[gnu::noinline]] target void name(const Vector* from, Vector* to, size_t count)               \
    {                                                                                              \
        for (size_t i = 0; i + kSums <= count; i += kSums) {                                       \
            for (size_t k = 0; k < kSums; ++k) to[i + k] = from[i + k];                            \
            asm volatile("" ::: "memory");                                                         \
        }                                                                                          \
    }

#if defined(__x86_64__)
TENON_READ_LOOP(readAvx512, [[gnu::target("avx512f")]], Vector)
TENON_READ_LOOP(readAvx2, [[gnu::target("avx2")]], HalfVector)
TENON_COPY_LOOP(copyAvx512, [[gnu::target("avx512f")]])
TENON_COPY_LOOP(copyAvx2, [[gnu::target("avx2")]])
#endif
TENON_READ_LOOP(readPlain, , QuarterVector)
TENON_COPY_LOOP(copyPlain, )

struct Loops
{
    uint64_t (*read)(const Vector* block, size_t count);
    void (*copy)(const Vector* from, Vector* to, size_t count);
};

/// With the widest vectors that this computer has.
Loops widestLoops()
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return {readAvx512, copyAvx512};
    if (__builtin_cpu_supports("avx2")) return {readAvx2, copyAvx2};
#endif
    return {readPlain, copyPlain};
}

/// Gigabytes per second of `move(offset, size)` over a block again and again: a rate that a tenth
/// of the pieces reach, which other load lowers little and luck raises little.
template <typename Move>
double goodRate(size_t bytes, const Move& move)
{
    const size_t piece = std::min(bytes, kTimedBytes);
    const size_t repeats = kTimedBytes / piece;
    std::vector<double> rates;
    for (size_t moved = 0; moved < kTotalBytes + bytes; moved += piece * repeats) {
        const size_t offset = moved % bytes + piece <= bytes ? moved % bytes : 0;
        const auto start = std::chrono::steady_clock::now();
        for (size_t i = 0; i < repeats; ++i) move(offset, piece);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        const bool isWarm = moved >= bytes;
        if (isWarm) rates.push_back(static_cast<double>(piece * repeats) / took.count() * 1e-9);
    }
    const auto good = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() * 9 / 10);
    std::nth_element(rates.begin(), good, rates.end());
    return *good;
}

} // namespace

double readGbPerSecond(size_t bytes)
{
    constexpr size_t kStep = kSums * kVectorBytes;
    const size_t whole = std::max<size_t>(1, bytes / kStep) * kStep;
    Block block(whole / kVectorBytes, 1);
    const auto loop = widestLoops().read;
    volatile uint64_t sink = 0;
    return goodRate(whole, [&](size_t offset, size_t size) {
        sink = sink + loop(block.data() + offset / kVectorBytes, size / kVectorBytes);
    });
}

/// The better of the library's copy and a plain loop over vectors: neither is the faster one in
/// every cache, and a kernel may do as either.
double copyGbPerSecond(size_t bytes)
{
    constexpr size_t kStep = kSums * kVectorBytes;
    const size_t whole = std::max<size_t>(1, bytes / kStep) * kStep;
    Block source(whole / kVectorBytes, 1);
    Block destination(whole / kVectorBytes, 2);
    Vector* volatile to = destination.data(); // the copies must not be left out
    const double library = goodRate(whole, [&](size_t offset, size_t size) {
        std::memcpy(to + offset / kVectorBytes, source.data() + offset / kVectorBytes, size);
    });
    const auto loop = widestLoops().copy;
    return std::max(library, goodRate(whole, [&](size_t offset, size_t size) {
                        loop(source.data() + offset / kVectorBytes, to + offset / kVectorBytes,
                             size / kVectorBytes);
                    }));
}

std::vector<Bandwidth> measureBandwidth(unsigned threads)
{
    constexpr unsigned kManyThreads = 8; // these go through much together
    const size_t beyondCaches = kBeyondCaches * std::clamp(threads, 1U, kManyThreads);
    std::vector<Bandwidth> rates;
    for (const size_t bytes : {size_t{16} << 10, size_t{128} << 10, size_t{1} << 20,
                               size_t{4} << 20, size_t{16} << 20, beyondCaches}) {
        std::vector<Bandwidth> each(std::max(1U, threads));
        std::vector<std::thread> workers;
        for (Bandwidth& one : each)
            workers.emplace_back([&one, share = bytes / each.size()] {
                one.readGbps = readGbPerSecond(share);
                one.copyGbps = copyGbPerSecond(std::max<size_t>(1, share / 2)); // and as many to
            });
        for (std::thread& worker : workers) worker.join();
        Bandwidth& all = rates.emplace_back(Bandwidth{static_cast<double>(bytes)});
        for (const Bandwidth& one : each) {
            all.readGbps += one.readGbps;
            all.copyGbps += one.copyGbps;
        }
    }
    return rates;
}

} // namespace tenon::remote
