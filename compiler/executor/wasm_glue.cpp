// SPDX-License-Identifier: Apache-2.0
// The runtime of a WebAssembly module: the module imports nothing, so it brings what it calls.
#include "compiler/executor/glue.h"
#include "compiler/executor/glue_support.h"

namespace tenon::compiler {
namespace {

// Workspaces are a stack that grows behind the linker's data. Kernels run on the one thread there
// is: tasks of a launch come one after another.
constexpr std::string_view kRuntime = R"(
@__heap_base = external hidden global i8
@tenon.top = internal global i64 0
@tenon_last_error = global ptr null

declare i32 @llvm.wasm.memory.size.i32(i32)
declare i32 @llvm.wasm.memory.grow.i32(i32, i32)

define void @TVMAPISetLastError(ptr %text) nounwind {
  store ptr %text, ptr @tenon_last_error
  ret void
}

define ptr @TVMBackendAllocWorkspace(i32 %type, i32 %device, i64 %bytes, i32 %code, i32 %bits) nounwind {
  %isHuge = icmp ugt i64 %bytes, 4294901760
  br i1 %isHuge, label %none, label %possible
possible:
  %oldTop = load i64, ptr @tenon.top
  %isFirst = icmp eq i64 %oldTop, 0
  %heap = ptrtoint ptr @__heap_base to i64
  %top = select i1 %isFirst, i64 %heap, i64 %oldTop
  %above = add i64 %top, 63
  %start = and i64 %above, -64
  %end = add i64 %start, %bytes
  %rounded = add i64 %end, 65535
  %pages = lshr i64 %rounded, 16
  %have = call i32 @llvm.wasm.memory.size.i32(i32 0)
  %wideHave = zext i32 %have to i64
  %isEnough = icmp ule i64 %pages, %wideHave
  br i1 %isEnough, label %take, label %grow
grow:
  %isBeyond = icmp ugt i64 %pages, 65536
  br i1 %isBeyond, label %none, label %ask
ask:
  %missing = sub i64 %pages, %wideHave
  %more = trunc i64 %missing to i32
  %before = call i32 @llvm.wasm.memory.grow.i32(i32 0, i32 %more)
  %isRefused = icmp eq i32 %before, -1
  br i1 %isRefused, label %none, label %take
take:
  store i64 %end, ptr @tenon.top
  %address = trunc i64 %start to i32
  %pointer = inttoptr i32 %address to ptr
  ret ptr %pointer
none:
  ret ptr null
}

define i32 @TVMBackendFreeWorkspace(i32 %type, i32 %device, ptr %pointer) nounwind {
  %start = ptrtoint ptr %pointer to i64
  store i64 %start, ptr @tenon.top
  ret i32 0
}

define internal i32 @tenon.launch(ptr %function, ptr %data, i32 %wanted) nounwind {
  %environment = alloca { ptr, i32 }
  %isFree = icmp eq i32 %wanted, 0
  %tasks = select i1 %isFree, i32 1, i32 %wanted
  store ptr null, ptr %environment
  %countAt = getelementptr { ptr, i32 }, ptr %environment, i32 0, i32 1
  store i32 %tasks, ptr %countAt
  br label %each
each:
  %task = phi i32 [ 0, %0 ], [ %next, %run ]
  %isMore = icmp slt i32 %task, %tasks
  br i1 %isMore, label %run, label %done
run:
  %next = add i32 %task, 1
  %status = call i32 %function(i32 %task, ptr %environment, ptr %data)
  %isFine = icmp eq i32 %status, 0
  br i1 %isFine, label %each, label %failed
failed:
  ret i32 %status
done:
  ret i32 0
}

; Tasks that wait for one another need threads, unless there is one only.
define internal i32 @tenon.barrier(i32 %task, ptr %environment) nounwind {
  %countAt = getelementptr { ptr, i32 }, ptr %environment, i32 0, i32 1
  %count = load i32, ptr %countAt
  %isAlone = icmp sle i32 %count, 1
  %status = select i1 %isAlone, i32 0, i32 -1
  ret i32 %status
}

; What a host calls first, as in WASI's reactors.
define void @_initialize() nounwind {
  store ptr @TVMAPISetLastError, ptr @__TVMAPISetLastError
  store ptr @TVMBackendAllocWorkspace, ptr @__TVMBackendAllocWorkspace
  store ptr @TVMBackendFreeWorkspace, ptr @__TVMBackendFreeWorkspace
  store ptr @tenon.launch, ptr @__TVMBackendParallelLaunch
  store ptr @tenon.barrier, ptr @__TVMBackendParallelBarrier
  ret void
}
)";

} // namespace

std::string wasmRuntimeText() { return std::string(kRuntime); }

std::vector<std::string> wasmExports(const ExecutorProgram& program)
{
    const std::string prefix = "tvmgen_" + program.moduleName;
    return {"TVMBackendAllocWorkspace", "TVMBackendFreeWorkspace",
            "__TenonProfileMark",       "_initialize",
            "tenon_last_error",         prefix + "___tenon_profile__",
            prefix + "___tvm_main__"};
}

} // namespace tenon::compiler
