; SPDX-License-Identifier: Apache-2.0

@tenon_last_error = global ptr null

define void @TVMAPISetLastError(ptr %text) nounwind {
  store ptr %text, ptr @tenon_last_error
  ret void
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

define void @@INITIALIZE@() nounwind {
  store ptr @TVMAPISetLastError, ptr @__TVMAPISetLastError
  store ptr @TVMBackendAllocWorkspace, ptr @__TVMBackendAllocWorkspace
  store ptr @TVMBackendFreeWorkspace, ptr @__TVMBackendFreeWorkspace
  store ptr @tenon.launch, ptr @__TVMBackendParallelLaunch
  store ptr @tenon.barrier, ptr @__TVMBackendParallelBarrier
  ret void
}
