; SPDX-License-Identifier: Apache-2.0

@__heap_base = external hidden global i8
@tenon.top = internal global i64 0

declare i32 @llvm.wasm.memory.size.i32(i32)
declare i32 @llvm.wasm.memory.grow.i32(i32, i32)

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
