// SPDX-License-Identifier: Apache-2.0
// Tensors and element access by dtype.
#include "core/tensor/tensor.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <new>

namespace tenon::core {
namespace {

constexpr std::align_val_t kAlignment{64};

template <class T>
T loadAs(std::span<const std::byte> bytes, int64_t index)
{
    T value;
    CHECK(index >= 0 && (static_cast<size_t>(index) + 1) * sizeof(T) <= bytes.size())
        << "index " << index;
    std::memcpy(&value, bytes.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
    return value;
}

template <class T, class V>
void storeAs(std::span<std::byte> bytes, int64_t index, V value)
{
    const T narrow = static_cast<T>(value);
    CHECK(index >= 0 && (static_cast<size_t>(index) + 1) * sizeof(T) <= bytes.size())
        << "index " << index;
    std::memcpy(bytes.data() + static_cast<size_t>(index) * sizeof(T), &narrow, sizeof(T));
}

template <class T>
T saturated(double value)
{
    if (std::isnan(value)) return 0;
    if (value <= static_cast<double>(std::numeric_limits<T>::min()))
        return std::numeric_limits<T>::min();
    if (value >= static_cast<double>(std::numeric_limits<T>::max()))
        return std::numeric_limits<T>::max();
    return static_cast<T>(value);
}

template <class R>
R load(DataType dtype, std::span<const std::byte> bytes, int64_t i)
{
    if (dtype.isBool()) return static_cast<R>(loadAs<uint8_t>(bytes, i) != 0);
    if (dtype == kFloat32) return static_cast<R>(loadAs<float>(bytes, i));
    if (dtype == kFloat64) return static_cast<R>(loadAs<double>(bytes, i));
    if (dtype == kFloat16) return static_cast<R>(halfToFloat(loadAs<uint16_t>(bytes, i)));
    if (dtype == kBfloat16) return static_cast<R>(bfloatToFloat(loadAs<uint16_t>(bytes, i)));
    if (dtype == kInt8) return static_cast<R>(loadAs<int8_t>(bytes, i));
    if (dtype == kInt16) return static_cast<R>(loadAs<int16_t>(bytes, i));
    if (dtype == kInt32) return static_cast<R>(loadAs<int32_t>(bytes, i));
    if (dtype == kInt64) return static_cast<R>(loadAs<int64_t>(bytes, i));
    if (dtype == kUInt8) return static_cast<R>(loadAs<uint8_t>(bytes, i));
    if (dtype == kUInt16) return static_cast<R>(loadAs<uint16_t>(bytes, i));
    if (dtype == kUInt32) return static_cast<R>(loadAs<uint32_t>(bytes, i));
    CHECK(dtype == kUInt64) << "element access to " << dtype.text();
    return static_cast<R>(loadAs<uint64_t>(bytes, i));
}

/// Memory of the system. What holds a huge page begins at one: elsewhere, those at both ends would
/// be four hundred small ones, each found by a fault. Null when there is none.
std::byte* mapPages(size_t size)
{
    constexpr size_t kHuge = size_t{2} << 20; // of x86-64, and of AArch64 with small pages of 4 KiB
    const size_t spare = size >= kHuge ? kHuge : 0;
    void* const pages =
        ::mmap(nullptr, size + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return nullptr;
    auto* const start = static_cast<std::byte*>(pages);
    if (spare == 0) return start;
    const size_t lead = (kHuge - reinterpret_cast<uintptr_t>(pages) % kHuge) % kHuge;
    if (lead > 0) ::munmap(start, lead);
    if (lead < spare) ::munmap(start + lead + size, spare - lead);
    return start + lead;
}

/// Zeroed bytes, 64-byte aligned. Big ones come straight from the kernel in huge pages: weights of
/// a model would else cost ten thousand page faults and a second pass to clear them.
std::shared_ptr<std::byte> zeroedBytes(size_t size)
{
    constexpr size_t kBig = size_t{1} << 20;
    if (size >= kBig) {
        const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
        size = (size + page - 1) / page * page;
        std::byte* const pages = mapPages(size);
        if (!pages) throw std::bad_alloc();
        ::madvise(pages, size, MADV_HUGEPAGE); // a hint; refused where huge pages are off
        return {pages, [size](std::byte* p) { ::munmap(p, size); }};
    }
    std::shared_ptr<std::byte> owner(static_cast<std::byte*>(::operator new(size + 64, kAlignment)),
                                     [](std::byte* p) { ::operator delete(p, kAlignment); });
    std::memset(owner.get(), 0, size);
    return owner;
}

} // namespace

Tensor::Tensor(DataType dtype, std::vector<int64_t> shape, std::shared_ptr<const void> owner,
               std::span<const std::byte> data)
    : m_dtype(dtype)
    , m_shape(std::move(shape))
    , m_owner(std::move(owner))
    , m_data(data)
{
    const int64_t wanted = elementCount(m_shape) * m_dtype.bytes();
    CHECK(wanted == static_cast<int64_t>(m_data.size()))
        << typeText() << " given " << m_data.size() << " bytes";
}

Tensor Tensor::make(DataType dtype, std::vector<int64_t> shape,
                    const std::function<void(std::span<std::byte>)>& fill)
{
    const size_t size = static_cast<size_t>(elementCount(shape) * dtype.bytes());
    const std::shared_ptr<std::byte> owner = zeroedBytes(size);
    const std::span<std::byte> bytes(owner.get(), size);
    fill(bytes);
    return Tensor(dtype, std::move(shape), owner, bytes);
}

double Tensor::number(int64_t index) const { return load<double>(m_dtype, m_data, index); }
int64_t Tensor::integer(int64_t index) const { return load<int64_t>(m_dtype, m_data, index); }

std::vector<double> Tensor::numbers() const
{
    std::vector<double> out;
    for (int64_t i = 0; i < size(); ++i) out.push_back(number(i));
    return out;
}

std::vector<int64_t> Tensor::integers() const
{
    std::vector<int64_t> out;
    for (int64_t i = 0; i < size(); ++i) out.push_back(integer(i));
    return out;
}

Tensor Tensor::reshaped(std::vector<int64_t> shape) const
{
    return Tensor(m_dtype, std::move(shape), m_owner, m_data);
}

Hash128 Tensor::hash() const
{
    Hasher hasher;
    hasher.add(m_dtype.text());
    for (const int64_t d : m_shape) hasher.add(static_cast<uint64_t>(d));
    hasher.add({reinterpret_cast<const char*>(m_data.data()), m_data.size()});
    return hasher.finish();
}

std::string Tensor::typeText() const
{
    return "Tensor[" + shapeText(makeShape(m_shape)) + ", " + m_dtype.text() + "]";
}

void storeNumber(DataType dtype, std::span<std::byte> bytes, int64_t i, double value)
{
    if (dtype == kFloat32) return storeAs<float>(bytes, i, value);
    if (dtype == kFloat64) return storeAs<double>(bytes, i, value);
    if (dtype == kFloat16)
        return storeAs<uint16_t>(bytes, i, floatToHalf(static_cast<float>(value)));
    if (dtype == kBfloat16)
        return storeAs<uint16_t>(bytes, i, floatToBfloat(static_cast<float>(value)));
    if (dtype.isBool()) return storeAs<uint8_t>(bytes, i, value != 0);
    if (dtype == kUInt64) return storeAs<uint64_t>(bytes, i, saturated<uint64_t>(value));
    storeInteger(dtype, bytes, i, saturated<int64_t>(value));
}

void storeInteger(DataType dtype, std::span<std::byte> bytes, int64_t i, int64_t value)
{
    if (dtype.isFloat()) return storeNumber(dtype, bytes, i, static_cast<double>(value));
    if (dtype.isBool()) return storeAs<uint8_t>(bytes, i, value != 0);
    switch (dtype.bytes()) {
    case 1: return storeAs<uint8_t>(bytes, i, value); // the low bytes are the same for both signs
    case 2: return storeAs<uint16_t>(bytes, i, value);
    case 4: return storeAs<uint32_t>(bytes, i, value);
    default: return storeAs<uint64_t>(bytes, i, value);
    }
}

} // namespace tenon::core
