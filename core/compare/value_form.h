// SPDX-License-Identifier: Apache-2.0
// ValueForm: how a compiled program holds a tensor of the model: channels in blocks, more channels,
// another shape, another zero point; and both ways between the two.
#pragma once

#include "core/tensor/tensor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::core {

/// One change of form, named by what it takes from the program's tensor to the model's.
struct FormStep
{
    enum class Kind : uint8_t
    {
        Reshape,   ///< to `shape`
        Transpose, ///< by `axes`
        Unblock,   ///< [N, C/b, H, W, b] -> [N, C, H, W]
        Leading,   ///< the first `count` elements along `axis`
        Shift,     ///< integers of the other signedness: adds `shift` and stores as `dtype`
        Cast,      ///< floats of more bits: stores as `dtype`
        Bits       ///< the same bits, read as `dtype`
    };
    Kind kind = Kind::Reshape;
    std::vector<int64_t> shape = {};  ///< Reshape: of the model's side
    std::vector<int64_t> before = {}; ///< Reshape: of the program's side
    std::vector<int64_t> axes = {};
    int64_t block = 0;
    int64_t axis = 0;
    int64_t count = 0;
    int64_t whole = 0; ///< Leading: elements along the axis on the program's side
    int64_t shift = 0;
    DataType dtype = {};  ///< Shift, Cast, Bits: of the model's side
    DataType stored = {}; ///< Shift, Cast, Bits: of the program's side
};

/// From the program's tensor to the model's, first step first. Empty: they are the same.
using ValueForm = std::vector<FormStep>;

/// The program's tensor as the model knows it. CHECKs that the form fits.
Tensor toModel(const ValueForm& form, const Tensor& held);
/// The model's tensor as the program holds it; what the model does not have is zero, which `zero`
/// stands for in the model's integers.
Tensor toProgram(const ValueForm& form, const Tensor& tensor, int64_t zero = 0);

/// "channels in blocks of 8", "channels in blocks of 8, 3 of 8 channels"; "" where nothing differs.
std::string formText(const ValueForm& form);

} // namespace tenon::core
