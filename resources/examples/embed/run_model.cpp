// SPDX-License-Identifier: MIT-0
// The same in C++, without a copy of any tensor, and with a function of one's own: run_model
// ARTIFACT
//     find_package(tenon REQUIRED)
//     target_link_libraries(run_model PRIVATE tenon::tenon_runtime)
#include <tenon/tenon.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

/// Memory of this program as DLPack has it; the model gets it lent.
DLManagedTensor* ofMemory(void* data, int64_t* shape, int rank)
{
    return new DLManagedTensor{{data, {kDLCPU, 0}, rank, {kDLFloat, 32, 1}, shape, nullptr, 0},
                               nullptr,
                               [](DLManagedTensor* self) { delete self; }};
}

int run(const char* path)
{
    tenon::Model model(path);

    // The first input as the model keeps it tells the shape.
    const tenon::Array kept(
        static_cast<TVMArrayHandle>(model.method("get_input")(0).value.v_handle));
    std::vector<int64_t> shape = kept.shape();
    const size_t bytes = (kept.size() * sizeof(float) + 63) / 64 * 64;
    const std::unique_ptr<void, void (*)(void*)> memory(std::aligned_alloc(64, bytes), std::free);
    auto* values = static_cast<float*>(memory.get());
    for (size_t i = 0; i < kept.size(); ++i) values[i] = 0;

    const tenon::Array input(ofMemory(values, shape.data(), static_cast<int>(shape.size())));
    model.lendInput(0, input.tensor());
    model.run();
    const tenon::Array output = model.output(0);
    DLManagedTensor* shared = output.toDLPack();
    const bool isShared =
        input.data<float>() == values && shared->dl_tensor.data == output.data<float>();
    for (size_t i = 0; i < output.size() && i < 10; ++i)
        std::printf("%g\n", static_cast<double>(output.data<float>()[i]));
    TVMDLManagedTensorCallDeleter(shared);

    tenon::registerFunction("example.largest", [](const std::vector<tenon::Value>& arguments) {
        const DLTensor* tensor = arguments.at(0).tensor();
        int64_t best = 0, elements = 1;
        for (int i = 0; i < tensor->ndim; ++i) elements *= tensor->shape[i];
        const auto* data = static_cast<const float*>(tensor->data);
        for (int64_t i = 1; i < elements; ++i)
            if (data[i] > data[best]) best = i;
        return tenon::Value(best);
    });
    TVMFunctionHandle found = nullptr;
    tenon::check(TVMFuncGetGlobal("example.largest", &found));
    std::printf("largest %lld, %s\n",
                static_cast<long long>(tenon::Function(found)(output.tensor()).integer()),
                isShared ? "nothing copied" : "copied");
    return isShared ? 0 : 1;
}

} // namespace

int main(int count, char** words)
{
    if (count != 2) {
        std::fprintf(stderr, "usage: run_model ARTIFACT\n");
        return 2;
    }
    try {
        return run(words[1]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
