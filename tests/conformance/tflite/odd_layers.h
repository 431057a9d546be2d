// SPDX-License-Identifier: Apache-2.0
// OddLayers: layers one after the other, of any channels, strides, dilations and groups.
#pragma once

#include "tests/conformance/tflite/case_builder.h"

namespace tenon::test {

struct OddKind
{
    const char* name;
    Numbers data;
    TfliteType weight;
    bool isPerAxis;
};

/// A tensor of the model, and what its integers stand for.
struct OddValue
{
    int tensor;
    Numbers numbers;
    Shape32 shape;
};

struct OddWindow
{
    Shape32 kernel; ///< as in the file
    Shape32 out;
    int32_t stride = 1, dilationH = 1, dilationW = 1;
    bool isValid = false;
    Activation activation = kNoActivation;
};

class OddLayers
{
public:
    OddLayers(CaseBuilder& c, const OddKind& kind)
        : m_c(c)
        , m_kind(kind)
    {
    }

    OddValue input(const Shape32& shape);
    OddValue conv(const OddValue& x, const OddWindow& window);
    OddValue depthwise(const OddValue& x, const OddWindow& window);
    OddValue transposed(const OddValue& x, const Shape32& kernel, const Shape32& out);
    OddValue dense(const OddValue& x, int32_t units, const Activation& activation);
    /// `op` of values of one scale, with a result of that scale.
    OddValue moved(const char* op, const std::vector<int32_t>& inputs, const OddValue& like,
                   const Shape32& out, FlatOut options = {});
    /// `op` of any values, with a result from `low` to `high` where it is quantized.
    OddValue made(const char* op, const std::vector<int32_t>& inputs, const Shape32& out,
                  double low, double high, FlatOut options = {});
    /// LOGISTIC, whose integers have the operator's own scale.
    OddValue logistic(const OddValue& x);
    /// `value` as a result of the model.
    void result(const OddValue& value);

private:
    OddValue windowed(const OddValue& x, const OddWindow& window, bool isDepthwise);

    CaseBuilder& m_c;
    OddKind m_kind;
};

} // namespace tenon::test
