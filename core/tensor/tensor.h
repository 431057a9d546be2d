// SPDX-License-Identifier: Apache-2.0
// Tensor: an immutable dense array; owns its bytes or points into a memory-mapped file.
#pragma once

#include "core/base/hash.h"
#include "core/tensor/dim.h"
#include "core/tensor/dtype.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tenon::core {

/// Row-major values of one dtype and constant shape. Copying shares the bytes. Bool takes one byte
/// per element.
class Tensor
{
public:
    Tensor() = default;
    /// Shares `data` (kept alive by `owner`, e.g. a MappedFile); CHECKs that the size fits.
    Tensor(DataType dtype, std::vector<int64_t> shape, std::shared_ptr<const void> owner,
           std::span<const std::byte> data);
    /// New zeroed bytes (64-byte aligned) filled by `fill`.
    static Tensor make(DataType dtype, std::vector<int64_t> shape,
                       const std::function<void(std::span<std::byte>)>& fill);
    template <class T>
    static Tensor of(DataType dtype, std::vector<int64_t> shape, const std::vector<T>& values)
    {
        return make(dtype, std::move(shape), [&](std::span<std::byte> out) {
            CHECK(out.size() == values.size() * sizeof(T)) << "wrong number of values";
            const auto raw = std::as_bytes(std::span(values));
            std::copy(raw.begin(), raw.end(), out.begin());
        });
    }

    DataType dtype() const { return m_dtype; }
    const std::vector<int64_t>& shape() const { return m_shape; }
    int64_t size() const { return elementCount(m_shape); } ///< number of elements
    std::span<const std::byte> bytes() const { return m_data; }
    bool isNull() const { return !m_owner; }

    template <class T>
    std::span<const T> as() const
    {
        CHECK(sizeof(T) == static_cast<size_t>(m_dtype.bytes())) << m_dtype.text();
        return {reinterpret_cast<const T*>(m_data.data()), m_data.size() / sizeof(T)};
    }
    /// Element `index` (row-major) of any dtype as a double or as a 64-bit integer.
    double number(int64_t index) const;
    int64_t integer(int64_t index) const;
    std::vector<double> numbers() const;
    std::vector<int64_t> integers() const;

    /// Same bytes under another shape of equal element count.
    Tensor reshaped(std::vector<int64_t> shape) const;
    Hash128 hash() const;         ///< of dtype, shape and bytes
    std::string typeText() const; ///< "Tensor[(1, 3), float32]"

private:
    DataType m_dtype;
    std::vector<int64_t> m_shape;
    std::shared_ptr<const void> m_owner;
    std::span<const std::byte> m_data;
};

/// Writes `value` as element `index` of a buffer of `dtype`; floats round to nearest even, integers
/// wrap, doubles saturate.
void storeNumber(DataType dtype, std::span<std::byte> bytes, int64_t index, double value);
void storeInteger(DataType dtype, std::span<std::byte> bytes, int64_t index, int64_t value);

/// IEEE half and bfloat16 conversions, bit-exact, round to nearest even.
float halfToFloat(uint16_t bits);
uint16_t floatToHalf(float value);
float bfloatToFloat(uint16_t bits);
uint16_t floatToBfloat(float value);

} // namespace tenon::core
