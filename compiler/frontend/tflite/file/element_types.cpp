// SPDX-License-Identifier: Apache-2.0
// The schema's TensorType.
#include "compiler/frontend/tflite/file/element_types.h"

namespace tenon::compiler {
namespace {

struct ElementType
{
    std::string_view name;
    std::optional<DataType> dtype;
    const NarrowType* narrow = nullptr;
};

const ElementType* elementType(int type)
{
    static const ElementType kTypes[] = {{"float32", core::kFloat32},
                                         {"float16", core::kFloat16},
                                         {"int32", core::kInt32},
                                         {"uint8", core::kUInt8},
                                         {"int64", core::kInt64},
                                         {"string", {}},
                                         {"bool", core::kBool},
                                         {"int16", core::kInt16},
                                         {"complex64", {}},
                                         {"int8", core::kInt8},
                                         {"float64", core::kFloat64},
                                         {"complex128", {}},
                                         {"uint64", core::kUInt64},
                                         {"resource", {}},
                                         {"variant", {}},
                                         {"uint32", core::kUInt32},
                                         {"uint16", core::kUInt16},
                                         {"int4", core::kInt8, &kInt4},
                                         {"bfloat16", core::kBfloat16},
                                         {"int2", core::kInt8, &kInt2},
                                         {"uint4", core::kUInt8, &kUInt4}};
    return type >= 0 && type < static_cast<int>(std::size(kTypes)) ? &kTypes[type] : nullptr;
}

} // namespace

std::optional<DataType> tfliteDataType(int type)
{
    const ElementType* found = elementType(type);
    return found ? found->dtype : std::nullopt;
}

const NarrowType* tfliteNarrowType(int type)
{
    const ElementType* found = elementType(type);
    return found ? found->narrow : nullptr;
}

std::string tfliteTypeName(int type)
{
    const ElementType* found = elementType(type);
    return found ? std::string(found->name) : "type " + std::to_string(type);
}

} // namespace tenon::compiler
