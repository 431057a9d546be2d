; SPDX-License-Identifier: Apache-2.0

define internal i32 @tenon.fail(ptr %message) noinline nounwind {
  %set = load ptr, ptr @tenon__TVMAPISetLastError
  %isUnset = icmp eq ptr %set, null
  br i1 %isUnset, label %done, label %tell
tell:
  call void %set(ptr %message)
  br label %done
done:
  ret i32 -1
}

; Compares packed arguments with a signature: 0, or -1 after recording the text.
define internal i32 @tenon.check(ptr %args, ptr %codes, i32 %count, ptr %signature) noinline nounwind {
  %wantedCount = load i32, ptr %signature
  %isCount = icmp eq i32 %count, %wantedCount
  br i1 %isCount, label %list, label %badCount
badCount:
  %countTextAt = getelementptr %Signature, ptr %signature, i32 0, i32 2
  %countText = load ptr, ptr %countTextAt
  %badCountCode = call i32 @tenon.fail(ptr %countText)
  ret i32 %badCountCode
list:
  %argumentsAt = getelementptr %Signature, ptr %signature, i32 0, i32 1
  %arguments = load ptr, ptr %argumentsAt
  br label %each
each:
  %i = phi i32 [ 0, %list ], [ %nextI, %good ]
  %isMore = icmp slt i32 %i, %count
  br i1 %isMore, label %argument, label %fine
fine:
  ret i32 0
argument:
  %wanted = getelementptr %Argument, ptr %arguments, i32 %i
  %codeAt = getelementptr i32, ptr %codes, i32 %i
  %code = load i32, ptr %codeAt
  switch i32 %code, label %bad [ i32 3, label %handle i32 7, label %handle i32 13, label %handle ]
handle:
  %tensorAt = getelementptr i64, ptr %args, i32 %i
  %tensor = load ptr, ptr %tensorAt
  %isNull = icmp eq ptr %tensor, null
  br i1 %isNull, label %bad, label %fields
fields:
  %data = load ptr, ptr %tensor
  %hasData = icmp ne ptr %data, null
  %deviceAt = getelementptr %Tensor, ptr %tensor, i32 0, i32 1
  %device = load i32, ptr %deviceAt
  %isCpu = icmp eq i32 %device, 1
  %rankAt = getelementptr %Tensor, ptr %tensor, i32 0, i32 2
  %rank = load i32, ptr %rankAt
  %wantedRank = load i32, ptr %wanted
  %isRank = icmp eq i32 %rank, %wantedRank
  %dtypeAt = getelementptr %Tensor, ptr %tensor, i32 0, i32 3
  %dtype = load i32, ptr %dtypeAt
  %wantedDtypeAt = getelementptr %Argument, ptr %wanted, i32 0, i32 1
  %wantedDtype = load i32, ptr %wantedDtypeAt
  %isDtype = icmp eq i32 %dtype, %wantedDtype
  %isA = and i1 %hasData, %isCpu
  %isB = and i1 %isRank, %isDtype
  %isAB = and i1 %isA, %isB
  br i1 %isAB, label %shapes, label %bad
shapes:
  %shapeAt = getelementptr %Tensor, ptr %tensor, i32 0, i32 4
  %shape = load ptr, ptr %shapeAt
  %stridesAt = getelementptr %Tensor, ptr %tensor, i32 0, i32 5
  %strides = load ptr, ptr %stridesAt
  %isCompact = icmp eq ptr %strides, null
  %wantedShapeAt = getelementptr %Argument, ptr %wanted, i32 0, i32 2
  %wantedShape = load ptr, ptr %wantedShapeAt
  br label %eachDim
eachDim:
  %k = phi i32 [ %rank, %shapes ], [ %dim, %goodDim ]
  %compact = phi i64 [ 1, %shapes ], [ %nextCompact, %goodDim ]
  %hasDim = icmp sgt i32 %k, 0
  br i1 %hasDim, label %extents, label %good
extents:
  %dim = sub i32 %k, 1
  %extentAt = getelementptr i64, ptr %shape, i32 %dim
  %extent = load i64, ptr %extentAt
  %wantedExtentAt = getelementptr i64, ptr %wantedShape, i32 %dim
  %wantedExtent = load i64, ptr %wantedExtentAt
  %isExtent = icmp eq i64 %extent, %wantedExtent
  br i1 %isExtent, label %steps, label %bad
steps:
  %isOne = icmp eq i64 %extent, 1
  %isFree = or i1 %isOne, %isCompact
  br i1 %isFree, label %goodDim, label %step
step:
  %strideAt = getelementptr i64, ptr %strides, i32 %dim
  %stride = load i64, ptr %strideAt
  %isStride = icmp eq i64 %stride, %compact
  br i1 %isStride, label %goodDim, label %bad
goodDim:
  %nextCompact = mul i64 %compact, %extent
  br label %eachDim
good:
  %nextI = add i32 %i, 1
  br label %each
bad:
  %textAt = getelementptr %Argument, ptr %wanted, i32 0, i32 3
  %text = load ptr, ptr %textAt
  %badCode = call i32 @tenon.fail(ptr %text)
  ret i32 %badCode
}

; First byte of the tensor that argument i points to.
define internal ptr @tenon.data(ptr %args, i32 %i) nounwind {
  %tensorAt = getelementptr i64, ptr %args, i32 %i
  %tensor = load ptr, ptr %tensorAt
  %data = load ptr, ptr %tensor
  %offsetAt = getelementptr %Tensor, ptr %tensor, i32 0, i32 6
  %offset = load i64, ptr %offsetAt
  %first = getelementptr i8, ptr %data, i64 %offset
  ret ptr %first
}

; Copies bytes, 64 at a time while it can.
define internal void @tenon.copy(ptr %to, ptr %from, i64 %bytes) noinline nounwind {
  %wide = and i64 %bytes, -64
  br label %words
words:
  %w = phi i64 [ 0, %0 ], [ %nextW, %word ]
  %hasWord = icmp ult i64 %w, %wide
  br i1 %hasWord, label %word, label %rest
word:
  %wordFrom = getelementptr i8, ptr %from, i64 %w
  %wordTo = getelementptr i8, ptr %to, i64 %w
  %value = load <8 x i64>, ptr %wordFrom, align 1
  store <8 x i64> %value, ptr %wordTo, align 1
  %nextW = add i64 %w, 64
  br label %words
rest:
  %b = phi i64 [ %wide, %words ], [ %nextB, %byte ]
  %hasByte = icmp ult i64 %b, %bytes
  br i1 %hasByte, label %byte, label %done
byte:
  %byteFrom = getelementptr i8, ptr %from, i64 %b
  %byteTo = getelementptr i8, ptr %to, i64 %b
  %one = load i8, ptr %byteFrom
  store i8 %one, ptr %byteTo
  %nextB = add i64 %b, 1
  br label %rest
done:
  ret void
}
