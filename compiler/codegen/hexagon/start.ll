; SPDX-License-Identifier: Apache-2.0

module asm ".text"
module asm ".globl _start"
module asm ".p2align 4"
module asm "_start: { r0 = r29; r29 = and(r29, #-128) }"
module asm "{ call tenon.start }"

@tenon.top = internal global i32 0

define internal i32 @tenon.system(i32 %number, i32 %a, i32 %b, i32 %c, i32 %d) noinline nounwind {
  %result = call i32 asm sideeffect "trap0(#1)", "={r0},0,{r1},{r2},{r3},{r6},~{memory}"(i32 %a, i32 %b, i32 %c, i32 %d, i32 %number)
  ret i32 %result
}

; Says why on stderr and ends the program.
define internal void @tenon.die(ptr %text) noinline noreturn nounwind {
  br label %each
each:
  %size = phi i32 [ 0, %0 ], [ %next, %each ]
  %at = getelementptr i8, ptr %text, i32 %size
  %byte = load i8, ptr %at
  %next = add i32 %size, 1
  %isEnd = icmp eq i8 %byte, 0
  br i1 %isEnd, label %tell, label %each
tell:
  %start = ptrtoint ptr %text to i32
  %told = call i32 @tenon.system(i32 64, i32 2, i32 %start, i32 %size, i32 0)
  %gone = call i32 @tenon.system(i32 94, i32 1, i32 0, i32 0, i32 0)
  unreachable
}

; Reads (63) or writes (64) all of the bytes.
define internal void @tenon.transfer(i32 %call, i32 %file, ptr %bytes, i32 %count) noinline nounwind {
  %start = ptrtoint ptr %bytes to i32
  br label %each
each:
  %done = phi i32 [ 0, %0 ], [ %sum, %more ]
  %isMore = icmp ult i32 %done, %count
  br i1 %isMore, label %some, label %all
some:
  %at = add i32 %start, %done
  %left = sub i32 %count, %done
  %got = call i32 @tenon.system(i32 %call, i32 %file, i32 %at, i32 %left, i32 0)
  %isGot = icmp sgt i32 %got, 0
  br i1 %isGot, label %more, label %failed
more:
  %sum = add i32 %done, %got
  br label %each
failed:
  call void @tenon.die(ptr @tenon.badFile)
  unreachable
all:
  ret void
}

define internal i32 @tenon.open(ptr %path, i32 %flags) noinline nounwind {
  %name = ptrtoint ptr %path to i32
  %file = call i32 @tenon.system(i32 56, i32 -100, i32 %name, i32 %flags, i32 384)
  %isOpen = icmp sge i32 %file, 0
  br i1 %isOpen, label %fine, label %failed
failed:
  call void @tenon.die(ptr @tenon.badFile)
  unreachable
fine:
  ret i32 %file
}

define internal i64 @tenon.now() noinline nounwind {
  %time = alloca [2 x i64], align 8
  %at = ptrtoint ptr %time to i32
  %status = call i32 @tenon.system(i32 403, i32 1, i32 %at, i32 0, i32 0)
  %seconds = load i64, ptr %time
  %restAt = getelementptr i64, ptr %time, i32 1
  %rest = load i64, ptr %restAt
  %whole = mul i64 %seconds, 1000000000
  %now = add i64 %whole, %rest
  ret i64 %now
}

; Workspaces are a stack behind the program's data, at multiples of a vector's 128 bytes.
define ptr @TVMBackendAllocWorkspace(i32 %type, i32 %device, i64 %bytes, i32 %code, i32 %bits) nounwind {
  %isHuge = icmp ugt i64 %bytes, 2147483520
  br i1 %isHuge, label %none, label %possible
possible:
  %size = trunc i64 %bytes to i32
  %oldTop = load i32, ptr @tenon.top
  %isFirst = icmp eq i32 %oldTop, 0
  br i1 %isFirst, label %first, label %take
first:
  %begin = call i32 @tenon.system(i32 214, i32 0, i32 0, i32 0, i32 0)
  br label %take
take:
  %top = phi i32 [ %oldTop, %possible ], [ %begin, %first ]
  %above = add i32 %top, 127
  %start = and i32 %above, -128
  %end = add i32 %start, %size
  %isAround = icmp ult i32 %end, %start
  br i1 %isAround, label %none, label %ask
ask:
  %got = call i32 @tenon.system(i32 214, i32 %end, i32 0, i32 0, i32 0)
  %isGot = icmp uge i32 %got, %end
  br i1 %isGot, label %fine, label %none
fine:
  store i32 %end, ptr @tenon.top
  %pointer = inttoptr i32 %start to ptr
  ret ptr %pointer
none:
  ret ptr null
}

define i32 @TVMBackendFreeWorkspace(i32 %type, i32 %device, ptr %pointer) nounwind {
  %start = ptrtoint ptr %pointer to i32
  store i32 %start, ptr @tenon.top
  ret i32 0
}

define internal void @tenon.mark(i32 %call) nounwind {
  %now = call i64 @tenon.now()
  %at = getelementptr i64, ptr @tenon.marks, i32 %call
  store i64 %now, ptr %at
  ret void
}

define internal void @tenon.infer(ptr %entry) noinline nounwind {
  %status = call i32 %entry(ptr @tenon.values, ptr @tenon.codes, i32 @COUNT@, ptr @tenon.result, ptr @tenon.resultCode, ptr null)
  %isDone = icmp eq i32 %status, 0
  br i1 %isDone, label %fine, label %failed
failed:
  %text = load ptr, ptr @tenon_last_error
  call void @tenon.die(ptr %text)
  unreachable
fine:
  %marked = call i32 @tenon.system(i32 57, i32 2118139904, i32 0, i32 0, i32 0) ; 0x7e404000
  ret void
}

; Nanoseconds of so many inferences.
define internal void @tenon.time(i32 %file, i32 %number) noinline nounwind {
  %time = alloca i64
  %start = call i64 @tenon.now()
  br label %each
each:
  %i = phi i32 [ 0, %0 ], [ %next, %one ]
  %isMore = icmp slt i32 %i, %number
  br i1 %isMore, label %one, label %all
one:
  call void @tenon.infer(ptr @"@MAIN@")
  %next = add i32 %i, 1
  br label %each
all:
  %end = call i64 @tenon.now()
  %taken = sub i64 %end, %start
  store i64 %taken, ptr %time
  call void @tenon.transfer(i32 64, i32 %file, ptr %time, i32 8)
  ret void
}

define internal void @tenon.measure(i32 %file) noinline nounwind {
  %number = load i32, ptr @tenon.counts
  %repeatAt = getelementptr i32, ptr @tenon.counts, i32 1
  %repeat = load i32, ptr %repeatAt
  %profilesAt = getelementptr i32, ptr @tenon.counts, i32 2
  %profiles = load i32, ptr %profilesAt
  store ptr @tenon.mark, ptr @__TenonProfileMark
  br label %eachTime
eachTime:
  %t = phi i32 [ 0, %0 ], [ %nextT, %time ]
  %isTime = icmp slt i32 %t, %repeat
  br i1 %isTime, label %time, label %eachProfile
time:
  call void @tenon.time(i32 %file, i32 %number)
  %nextT = add i32 %t, 1
  br label %eachTime
eachProfile:
  %p = phi i32 [ 0, %eachTime ], [ %nextP, %profile ]
  %isProfile = icmp slt i32 %p, %profiles
  br i1 %isProfile, label %profile, label %done
profile:
  call void @tenon.infer(ptr @"@PROFILE@")
  call void @tenon.transfer(i32 64, i32 %file, ptr @tenon.marks, i32 @MARKBYTES@)
  %nextP = add i32 %p, 1
  br label %eachProfile
done:
  ret void
}

; The stack starts with the number of arguments and their addresses. 577 is for writing, from
; nothing.
define hidden void @tenon.start(ptr %stack) noreturn nounwind {
  %count = load i32, ptr %stack
  %isCount = icmp eq i32 %count, 4
  br i1 %isCount, label %files, label %bad
bad:
  call void @tenon.die(ptr @tenon.usage)
  unreachable
files:
  %givenAt = getelementptr ptr, ptr %stack, i32 2
  %wantedAt = getelementptr ptr, ptr %stack, i32 3
  %timesAt = getelementptr ptr, ptr %stack, i32 4
  %givenPath = load ptr, ptr %givenAt
  %wantedPath = load ptr, ptr %wantedAt
  %timesPath = load ptr, ptr %timesAt
  %given = call i32 @tenon.open(ptr %givenPath, i32 0)
  call void @tenon.initialize()
  call void @tenon.transfer(i32 63, i32 %given, ptr @tenon.counts, i32 12)
  call void @tenon.readAll(i32 %given)
  call void @tenon.infer(ptr @"@MAIN@")
  %times = call i32 @tenon.open(ptr %timesPath, i32 577)
  call void @tenon.measure(i32 %times)
  %wanted = call i32 @tenon.open(ptr %wantedPath, i32 577)
  call void @tenon.writeAll(i32 %wanted)
  %gone = call i32 @tenon.system(i32 94, i32 0, i32 0, i32 0, i32 0)
  unreachable
}
