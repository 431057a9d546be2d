// SPDX-License-Identifier: Apache-2.0
// Hand-made artifacts.
#include "tests/runtime/artifacts.h"

#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>

namespace tenon::test {

Stream& Stream::integer(uint64_t value, int size)
{
    for (int i = 0; i < size; ++i) m_bytes += static_cast<char>(value >> (8 * i));
    return *this;
}

Stream& Stream::raw(std::string_view value)
{
    m_bytes += value;
    return *this;
}

Stream& Stream::text(std::string_view value) { return u64(value.size()).raw(value); }

Stream& Stream::array(const std::vector<int64_t>& shape, const std::vector<float>& values)
{
    u64(0xDD5E40F096B4A13Full).u64(0).i32(1).i32(0).i32(static_cast<int32_t>(shape.size()));
    u8(2).u8(32).u16(1);
    for (const int64_t extent : shape) u64(static_cast<uint64_t>(extent));
    u64(values.size() * sizeof(float));
    return raw({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)});
}

std::string addGraphJson()
{
    return R"({"nodes":[
 {"op":"null","name":"x","inputs":[]},
 {"op":"null","name":"p0","inputs":[]},
 {"op":"tvm_op","name":"add","attrs":{"func_name":"fused_add","num_inputs":"2","num_outputs":"1",
  "flatten_data":"0","hash":"1f"},"inputs":[[0,0,0],[1,0,0]]},
 {"op":"tvm_op","name":"flat","attrs":{"func_name":"__nop","num_inputs":"1","num_outputs":"1",
  "flatten_data":"0"},"inputs":[[2,0,0]]},
 {"op":"tvm_op","name":"double","attrs":{"func_name":"fused_double","num_inputs":"1",
  "num_outputs":"1","flatten_data":"0"},"inputs":[[3,0,0]]}],
"arg_nodes":[0,1],"heads":[[4,0,0]],"node_row_ptr":[0,1,2,3,4,5],
"attrs":{"dltype":["list_str",["float32","float32","float32","float32","float32"]],
 "device_index":["list_int",[1,1,1,1,1]],
 "shape":["list_shape",[[2,3],[3],[2,3],[6],[6]]],
 "storage_id":["list_int",[0,1,2,2,3]]}})";
}

std::string addKernelSource()
{
    return R"(
#include "runtime/include/tenon/c_backend_api.h"
void* __tvm_module_ctx;
int (*__TVMBackendParallelLaunch)(FTVMParallelLambda, void*, int);
void* (*__TVMBackendAllocWorkspace)(int, int, uint64_t, int, int);
int (*__TVMBackendFreeWorkspace)(int, int, void*);
void (*__TVMAPISetLastError)(const char*);
static float* data(TVMValue v) { return ((DLTensor*)v.v_handle)->data; }
int fused_add(TVMValue* a, int* codes, int n, TVMValue* r, int* rc, void* h)
{
    if (n != 3) { __TVMAPISetLastError("fused_add: num_args should be 3"); return -1; }
    for (int i = 0; i < 6; ++i) data(a[2])[i] = data(a[0])[i] + data(a[1])[i % 3];
    return 0;
}
typedef struct { float* in; float* out; } pair;
static int task(int id, TVMParallelGroupEnv* env, void* cdata)
{
    pair* p = cdata;
    for (int i = id; i < 6; i += env->num_task) p->out[i] = 2 * p->in[i];
    return 0;
}
int fused_double(TVMValue* a, int* codes, int n, TVMValue* r, int* rc, void* h)
{
    if (((DLTensor*)a[0].v_handle)->ndim != 1) { __TVMAPISetLastError("ndim"); return -1; }
    float* scratch = __TVMBackendAllocWorkspace(1, 0, 6 * sizeof(float), 2, 32);
    pair first = {data(a[0]), scratch};
    int status = __TVMBackendParallelLaunch(task, &first, 0);
    for (int i = 0; i < 6; ++i) data(a[1])[i] = scratch[i];
    __TVMBackendFreeWorkspace(1, 0, scratch);
    return status;
}
)";
}

std::string graphFactoryPayload(const std::string& json)
{
    Stream stream;
    stream.text(json).u64(1).u64(1).text("p0").array({3}, {10, 20, 30}).text("default");
    return stream.bytes();
}

std::string graphBlob(const std::string& payload)
{
    Stream stream;
    stream.u64(3).text("GraphExecutorFactory").raw(payload).text("_lib");
    stream.text("_import_tree").u64(3).u64(0).u64(1).u64(1).u64(1).u64(1);
    return stream.bytes();
}

std::string aotBlob()
{
    Stream stream;
    stream.u64(4).text("AotExecutorFactory").u64(0).u64(0).text("default");
    stream.text("metadata_module").text("_lib");
    stream.text("_import_tree").u64(4).u64(0).u64(1).u64(2).u64(2).u64(2).u64(1).u64(2);
    return stream.bytes();
}

std::string aotSource()
{
    return addKernelSource() + R"(
void (*__TenonProfileMark)(int32_t);
static const int64_t shape_x[] = {2, 3}, shape_z[] = {6};
static const TVMTensorInfo inputs[] = {{"x", shape_x, 2, {2, 32, 1}}};
static const TVMTensorInfo outputs[] = {{"output", shape_z, 1, {2, 32, 1}}};
static const TVMMetadata metadata = {1, inputs, 1, outputs, 1, 0, 0, 0, 0, "tvmgen_default"};
int get_c_metadata(TVMValue* a, int* codes, int n, TVMValue* r, int* rc, void* h)
{
    r->v_handle = (void*)&metadata;
    *rc = kTVMOpaqueHandle;
    return 0;
}
static int call(TVMValue* a, int marks)
{
    static float p0[3] = {10, 20, 30};
    float sum[6];
    DLTensor p = {p0, {1, 0}, 1, {2, 32, 1}}, s = {sum, {1, 0}, 1, {2, 32, 1}};
    TVMValue first[3] = {a[0], {.v_handle = &p}, {.v_handle = &s}};
    TVMValue second[2] = {{.v_handle = &s}, a[1]};
    if (marks) __TenonProfileMark(0);
    if (fused_add(first, 0, 3, 0, 0, 0)) return -1;
    if (marks) __TenonProfileMark(1);
    if (fused_double(second, 0, 2, 0, 0, 0)) return -1;
    if (marks) __TenonProfileMark(2);
    return 0;
}
int tvmgen_default___tvm_main__(TVMValue* a, int* codes, int n, TVMValue* r, int* rc, void* h)
{
    return n == 2 ? call(a, 0) : -1;
}
int tvmgen_default___tenon_profile__(TVMValue* a, int* codes, int n, TVMValue* r, int* rc, void* h)
{
    return n == 2 ? call(a, 1) : -1;
}
)";
}

std::string sabotagedSource(const std::string& code)
{
    static constexpr const char* kSystemCalls = R"(
#include <signal.h>
#include <sys/syscall.h>
static long ask(long number, long a, long b)
{
#if defined(__x86_64__)
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b)
                     : "rcx", "r11", "memory");
    return result;
#else
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x8 __asm__("x8") = number;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x1), "r"(x8) : "memory");
    return x0;
#endif
}
static void send_self(int signal) { ask(SYS_kill, ask(SYS_getpid, 0, 0), signal); }
)";
    std::string source = aotSource();
    const std::string head = "int fused_double(TVMValue* a, int* codes, int n, TVMValue* r, "
                             "int* rc, void* h)\n{\n";
    const size_t at = source.find(head);
    EXPECT_NE(at, std::string::npos);
    return kSystemCalls + source.insert(at + head.size(), code);
}

std::string blobSource(const std::string& blob)
{
    Stream whole;
    whole.text(blob);
    std::string source = "const unsigned char __tvm_dev_mblob[] = {";
    for (const char c : whole.bytes()) source += std::to_string(static_cast<uint8_t>(c)) + ",";
    return source + "};\n";
}

std::string compileLibrary(const std::string& folder, const std::string& name,
                           const std::string& source, const std::string& flags,
                           const std::string& compiler)
{
    const std::string input = folder + "/" + name + ".c";
    const std::string output = folder + "/" + name + ".so";
    std::ofstream(input) << source;
    const std::string command = compiler + " -shared -fPIC -O1 -w " + flags + " -I" +
                                sourcePath("") + " -o " + output + " " + input;
    if (std::system(command.c_str()) == 0) return output;
    ADD_FAILURE() << "cannot compile " << input;
    return "";
}

} // namespace tenon::test
