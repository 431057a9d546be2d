; SPDX-License-Identifier: Apache-2.0

%Device = type { i32, i32 }
%DType = type { i8, i8, i16 }
%Tensor = type { ptr, %Device, i32, %DType, ptr, ptr, i64 }
%TensorInfo = type { ptr, ptr, i64, %DType }
%Metadata = type { i64, ptr, i64, ptr, i64, ptr, i64, ptr, i64, ptr }
; rank, dtype, shape, what to say when an argument differs
%Argument = type { i32, %DType, ptr, ptr }
; number of arguments, arguments, what to say when the number differs
%Signature = type { i32, ptr, ptr }
