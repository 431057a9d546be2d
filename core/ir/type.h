// SPDX-License-Identifier: Apache-2.0
// TensorType: what a graph value is before it has bytes.
#pragma once

#include "core/tensor/dim.h"
#include "core/tensor/dtype.h"

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace tenon::core {

/// Shape with symbolic dimensions and element type. Tuples do not exist as values: a node has
/// several results instead.
struct TensorType
{
    DataType dtype;
    Shape shape;

    friend bool operator==(const TensorType&, const TensorType&) = default;
    std::string text() const; ///< "Tensor[(1, 3, 224, 224), float32]"
    /// Bytes of the dense tensor; only for constant shapes.
    int64_t bytes() const;
};

using Types = std::vector<TensorType>;

/// Types of a node's results; records with equal types can share them.
class SharedTypes
{
public:
    SharedTypes() = default;
    SharedTypes(Types types)
        : m_types(types.empty() ? nullptr : std::make_shared<const Types>(std::move(types)))
    {
    }
    SharedTypes(std::initializer_list<TensorType> types)
        : SharedTypes(Types(types))
    {
    }

    const Types& get() const;
    operator const Types&() const { return get(); }
    bool empty() const { return !m_types; }
    size_t size() const { return get().size(); }
    const TensorType& operator[](size_t i) const { return get()[i]; }
    const TensorType& at(size_t i) const { return get().at(i); }
    const TensorType& front() const { return get().front(); }
    const TensorType* begin() const { return get().data(); }
    const TensorType* end() const { return get().data() + get().size(); }
    void clear() { m_types = nullptr; }

    friend bool operator==(const SharedTypes& a, const SharedTypes& b)
    {
        return a.m_types == b.m_types || a.get() == b.get();
    }
    friend bool operator==(const SharedTypes& a, const Types& b) { return a.get() == b; }

private:
    std::shared_ptr<const Types> m_types; ///< null: none
};

} // namespace tenon::core
