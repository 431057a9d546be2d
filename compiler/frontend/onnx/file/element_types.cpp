// SPDX-License-Identifier: Apache-2.0
// ONNX's numbers of narrow types.
#include "compiler/frontend/onnx/file/element_types.h"

#include "compiler/frontend/onnx/onnx.pb.h"

namespace tenon::compiler {

const NarrowType* narrowTypeOf(int32_t onnxType)
{
    using tenon_onnx::TensorProto;
    switch (onnxType) {
    case TensorProto::FLOAT8E4M3FN: return &kFloat8E4M3FN;
    case TensorProto::FLOAT8E4M3FNUZ: return &kFloat8E4M3FNUZ;
    case TensorProto::FLOAT8E5M2: return &kFloat8E5M2;
    case TensorProto::FLOAT8E5M2FNUZ: return &kFloat8E5M2FNUZ;
    case TensorProto::FLOAT8E8M0: return &kFloat8E8M0;
    case TensorProto::FLOAT4E2M1: return &kFloat4E2M1;
    case TensorProto::UINT4: return &kUInt4;
    case TensorProto::INT4: return &kInt4;
    case TensorProto::UINT2: return &kUInt2;
    case TensorProto::INT2: return &kInt2;
    default: return nullptr;
    }
}

} // namespace tenon::compiler
