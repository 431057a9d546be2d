// SPDX-License-Identifier: Apache-2.0
// Walks everything a module version refers to.
#include "core/ir/module_bytes.h"

#include "core/ir/tir/stmt.h"

namespace tenon::core {
namespace {

constexpr size_t kTreeNode = 32; ///< links and colour of a std::map node

/// A block of the allocator: 8 bytes of its own, rounded to 16, at least 32.
size_t block(size_t bytes)
{
    return bytes == 0 ? 0 : std::max<size_t>(32, (bytes + 8 + 15) / 16 * 16);
}

template <class T>
size_t heap(const std::vector<T>& values)
{
    return block(values.capacity() * sizeof(T));
}

size_t heap(const std::string& text)
{
    return text.capacity() > 15 ? block(text.capacity() + 1) : 0;
}

size_t heap(const std::vector<std::string>& values)
{
    size_t bytes = block(values.capacity() * sizeof(std::string));
    for (const std::string& text : values) bytes += heap(text);
    return bytes;
}

size_t heap(const AttrValue& value)
{
    struct Visitor
    {
        size_t operator()(int64_t) const { return 0; }
        size_t operator()(double) const { return 0; }
        size_t operator()(DataType) const { return 0; }
        size_t operator()(const std::string& v) const { return heap(v); }
        size_t operator()(const std::vector<int64_t>& v) const { return heap(v); }
        size_t operator()(const std::vector<double>& v) const { return heap(v); }
        size_t operator()(const std::vector<std::string>& v) const { return heap(v); }
    };
    return std::visit(Visitor{}, value);
}

size_t heap(const Attrs& attrs)
{
    size_t bytes = heap(attrs.entries());
    for (const auto& [name, value] : attrs.entries()) bytes += heap(name) + heap(value);
    return bytes;
}

size_t heap(const Types& types)
{
    size_t bytes = block(types.capacity() * sizeof(TensorType));
    for (const TensorType& type : types) {
        bytes += block(type.shape.capacity() * sizeof(Dim));
        for (const Dim& dim : type.shape)
            for (const std::string& symbol : dim.symbols()) bytes += block(64) + heap(symbol);
    }
    return bytes;
}

/// Nodes of one loop function; expressions are shared between statements.
class KernelWalk
{
public:
    explicit KernelWalk(const std::function<bool(const void*, size_t)>& first)
        : m_first(first)
    {
    }

    void stmt(const tir::Stmt& s)
    {
        if (!s || !m_first(s.get(), block(sizeof(tir::StmtNode) + 16) + heap(s->stmts) +
                                        heap(s->indices) + heap(s->block.iters) +
                                        heap(s->block.name) + heap(s->block.annotations)))
            return;
        for (const tir::Stmt& child : s->stmts) stmt(child);
        for (const tir::Stmt& child : {s->init, s->body, s->orElse}) stmt(child);
        for (const tir::Expr& e : s->indices) expr(e);
        for (const tir::IterVar& iter : s->block.iters) {
            variable(iter.var);
            expr(iter.extent);
            expr(iter.binding);
        }
        for (const tir::Buffer& b : s->block.allocs) buffer(b);
        variable(s->loop.var);
        variable(s->var);
        buffer(s->buffer);
        for (const tir::Expr& e :
             {s->value, s->condition, s->loop.min, s->loop.extent, s->block.predicate})
            expr(e);
    }

    void buffer(const tir::Buffer& b)
    {
        if (!b || !m_first(b.get(), block(sizeof(tir::BufferNode) + 16) + heap(b->name) +
                                        heap(b->shape) + heap(b->strides)))
            return;
        for (const tir::Expr& e : b->shape) expr(e);
        for (const tir::Expr& e : b->strides) expr(e);
    }

private:
    void expr(const tir::Expr& e)
    {
        if (!e.get() || !m_first(e.get(), block(sizeof(tir::ExprNode) + 16) + heap(e->args)))
            return;
        for (const tir::Expr& arg : e->args) expr(arg);
        variable(e->var);
        buffer(e->buffer);
    }

    void variable(const tir::Var& v)
    {
        if (v) m_first(v.get(), block(sizeof(tir::VarNode) + 16) + heap(v->name));
    }

    const std::function<bool(const void*, size_t)>& m_first;
};

} // namespace

bool ByteCount::first(const void* address, size_t bytes)
{
    if (!m_seen.insert(address).second) return false;
    m_bytes += bytes;
    return true;
}

void ByteCount::addRecord(const NodeRecord& record)
{
    const size_t own = block(sizeof(NodeRecord) + 16) + heap(record.op) + heap(record.kernel) +
                       heap(record.operands) + heap(record.bodies) + heap(record.origin) +
                       heap(record.name);
    if (!first(&record, own)) return;
    addAttrs(record.attrs);
    if (!record.types.empty())
        first(record.types.begin(), block(sizeof(Types) + 16) + heap(record.types.get()));
    if (record.constant)
        first(record.constant.get(), block(sizeof(Tensor) + 16) + heap(record.constant->shape()));
}

void ByteCount::addAttrs(const Attrs& attrs)
{
    if (!attrs.entries().empty())
        first(attrs.entries().data(), block(sizeof(Attrs::Entries) + 16) + heap(attrs));
}

void ByteCount::addKernel(const tir::PrimFunc& kernel)
{
    if (!first(&kernel, block(sizeof(tir::PrimFunc) + 16) + heap(kernel.name) +
                            heap(kernel.params) + heap(kernel.sizes) + heap(kernel.attrs)))
        return;
    const std::function<bool(const void*, size_t)> count = [this](const void* address, size_t n) {
        return first(address, n);
    };
    KernelWalk walk(count);
    for (const tir::Buffer& buffer : kernel.params) walk.buffer(buffer);
    walk.stmt(kernel.body);
}

void ByteCount::addFunctions(const std::map<FunctionId, FunctionPtr>& functions)
{
    if (!first(&functions, block(sizeof functions + 16))) return;
    for (const auto& [id, function] : functions) {
        m_bytes += block(kTreeNode + sizeof(id) + sizeof(function));
        first(function.get(), block(sizeof(GraphFunction) + 16) + heap(function->name) +
                                  heap(function->params) + heap(function->order) +
                                  heap(function->results) + heap(function->resultNames));
        addAttrs(function->attrs);
    }
}

void ByteCount::addKernels(const std::map<std::string, PrimFuncPtr>& kernels)
{
    if (!first(&kernels, block(sizeof kernels + 16))) return;
    for (const auto& [name, kernel] : kernels) {
        m_bytes += block(kTreeNode + sizeof(name) + sizeof(kernel)) + heap(name);
        addKernel(*kernel);
    }
}

void ByteCount::add(const Module& module)
{
    module.nodes().visitStorage(
        [this](const void* address, size_t bytes) { return first(address, block(bytes + 16)); },
        [this](const NodeRecord& record) { addRecord(record); });
    addFunctions(module.functions());
    addKernels(module.kernels());
    if (!first(&module.sources(), block(sizeof(std::vector<SourceNode>) + 16))) return;
    m_bytes += heap(module.sources());
    for (const SourceNode& source : module.sources())
        m_bytes += heap(source.name) + heap(source.op) + heap(source.domain) + heap(source.scope);
}

void ByteCount::add(const std::vector<Change>& changes)
{
    if (!changes.empty() && !first(changes.data(), heap(changes))) return;
    for (const Change& change : changes)
        m_bytes += heap(change.rule) + heap(change.reason) + heap(change.from) + heap(change.to) +
                   heap(change.erased) + heap(change.origin);
}

} // namespace tenon::core
