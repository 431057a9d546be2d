// SPDX-License-Identifier: Apache-2.0
// What one worker of the evaluator computes in: rows of values, and buffers of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace tenon::compiler {

inline constexpr int64_t kRow = 256;

/// A stretch of a buffer: where it is, and how many elements of the buffer lie before it.
struct LocalBuffer
{
    std::span<std::byte> bytes;
    int64_t skipped = 0;
};

/// Registers of one worker; every register holds one row of doubles or of 64-bit integers.
class Registers
{
public:
    explicit Registers(size_t count)
        : m_values(std::make_unique_for_overwrite<Value[]>(count * kRow))
    {
    }
    std::span<const LocalBuffer> locals; ///< what accesses of local buffers mean

    double* number(int r) { return &m_values[static_cast<size_t>(r) * kRow].number; }
    int64_t* integer(int r) { return &m_values[static_cast<size_t>(r) * kRow].integer; }

private:
    union Value {
        double number;
        int64_t integer;
    };
    std::unique_ptr<Value[]> m_values; ///< a tape writes each before it reads it
};

} // namespace tenon::compiler
