; SPDX-License-Identifier: Apache-2.0

%Parts = type { i64, i64 } ; biased exponent, fraction

define internal %Parts @tenon.parts(i64 %bits) nounwind {
  %shifted = lshr i64 %bits, 52
  %field = and i64 %shifted, 2047
  %low = and i64 %bits, 4503599627370495
  %isNormal = icmp ne i64 %field, 0
  %zeros = call i64 @llvm.ctlz.i64(i64 %low, i1 false)
  %up = sub i64 %zeros, 11
  %raised = shl i64 %low, %up
  %full = or i64 %low, 4503599627370496
  %fraction = select i1 %isNormal, i64 %full, i64 %raised
  %below = sub i64 1, %up
  %exponent = select i1 %isNormal, i64 %field, i64 %below
  %a = insertvalue %Parts poison, i64 %exponent, 0
  %parts = insertvalue %Parts %a, i64 %fraction, 1
  ret %Parts %parts
}

; To the nearest, ties to even.
define internal double @tenon.round(i64 %sign, i64 %exponent, i64 %fraction) nounwind {
  %isSmall = icmp slt i64 %exponent, 1
  %distance = sub i64 1, %exponent
  %isFar = icmp sgt i64 %distance, 62
  %near = select i1 %isFar, i64 62, i64 %distance
  %by = select i1 %isSmall, i64 %near, i64 0
  %kept = lshr i64 %fraction, %by
  %back = shl i64 %kept, %by
  %isLost = icmp ne i64 %back, %fraction
  %lost = zext i1 %isLost to i64
  %m = or i64 %kept, %lost
  %rest = and i64 %m, 1023
  %whole = lshr i64 %m, 10
  %odd = and i64 %whole, 1
  %limit = sub i64 512, %odd
  %isUp = icmp ugt i64 %rest, %limit
  %one = zext i1 %isUp to i64
  %rounded = add i64 %whole, %one
  %field = sub i64 %exponent, 1
  %fieldOrNone = select i1 %isSmall, i64 0, i64 %field
  %high = shl i64 %fieldOrNone, 52
  %finite = add i64 %high, %rounded
  %isHuge = icmp sgt i64 %exponent, 2046
  %magnitude = select i1 %isHuge, i64 9218868437227405312, i64 %finite
  %bits = or i64 %magnitude, %sign
  %result = bitcast i64 %bits to double
  ret double %result
}
define hidden double @__hexagon_muldf3(double %a, double %b) nounwind {
  %aBits = bitcast double %a to i64
  %bBits = bitcast double %b to i64
  %different = xor i64 %aBits, %bBits
  %sign = and i64 %different, -9223372036854775808
  %x = and i64 %aBits, 9223372036854775807
  %y = and i64 %bBits, 9223372036854775807
  %aParts = call %Parts @tenon.parts(i64 %x)
  %bParts = call %Parts @tenon.parts(i64 %y)
  %aExponent = extractvalue %Parts %aParts, 0
  %bExponent = extractvalue %Parts %bParts, 0
  %aFraction = extractvalue %Parts %aParts, 1
  %bFraction = extractvalue %Parts %bParts, 1

  %isXFirst = icmp ugt i64 %x, %y
  %large = select i1 %isXFirst, i64 %x, i64 %y
  %small = select i1 %isXFirst, i64 %y, i64 %x
  %isFinite = icmp ult i64 %large, 9218868437227405312
  %isZero = icmp eq i64 %small, 0
  br i1 %isFinite, label %finite, label %special
special:
  %isNan = icmp ugt i64 %large, 9218868437227405312
  %isBad = or i1 %isNan, %isZero
  %infinity = or i64 9218868437227405312, %sign
  %specialBits = select i1 %isBad, i64 9221120237041090560, i64 %infinity
  %specialValue = bitcast i64 %specialBits to double
  ret double %specialValue
finite:
  br i1 %isZero, label %zero, label %product
zero:
  %zeroValue = bitcast i64 %sign to double
  ret double %zeroValue
product:
  %aUp = shl i64 %aFraction, 10
  %bUp = shl i64 %bFraction, 11
  %aWide = zext i64 %aUp to i128
  %bWide = zext i64 %bUp to i128
  %wide = mul i128 %aWide, %bWide
  %low = trunc i128 %wide to i64
  %upper = lshr i128 %wide, 64
  %high = trunc i128 %upper to i64
  %isRest = icmp ne i64 %low, 0
  %rest = zext i1 %isRest to i64
  %all = or i64 %high, %rest
  %isTwo = icmp ugt i64 %high, 4611686018427387903
  %twice = shl i64 %all, 1
  %fraction = select i1 %isTwo, i64 %all, i64 %twice
  %sum = add i64 %aExponent, %bExponent
  %bias = select i1 %isTwo, i64 1022, i64 1023
  %exponent = sub i64 %sum, %bias
  %result = call double @tenon.round(i64 %sign, i64 %exponent, i64 %fraction)
  ret double %result
}
define hidden double @__hexagon_divdf3(double %a, double %b) nounwind {
  %aBits = bitcast double %a to i64
  %bBits = bitcast double %b to i64
  %different = xor i64 %aBits, %bBits
  %sign = and i64 %different, -9223372036854775808
  %x = and i64 %aBits, 9223372036854775807
  %y = and i64 %bBits, 9223372036854775807
  %aParts = call %Parts @tenon.parts(i64 %x)
  %bParts = call %Parts @tenon.parts(i64 %y)
  %aExponent = extractvalue %Parts %aParts, 0
  %bExponent = extractvalue %Parts %bParts, 0
  %aFraction = extractvalue %Parts %aParts, 1
  %bFraction = extractvalue %Parts %bParts, 1

  %isANan = icmp ugt i64 %x, 9218868437227405312
  %isBNan = icmp ugt i64 %y, 9218868437227405312
  %isSame = icmp eq i64 %x, %y
  %isAInfinite = icmp eq i64 %x, 9218868437227405312
  %isBInfinite = icmp eq i64 %y, 9218868437227405312
  %isAZero = icmp eq i64 %x, 0
  %isBZero = icmp eq i64 %y, 0
  %isLimit = or i1 %isAInfinite, %isAZero
  %isBoth = and i1 %isSame, %isLimit
  %isAnyNan = or i1 %isANan, %isBNan
  %isNan = or i1 %isAnyNan, %isBoth
  br i1 %isNan, label %nan, label %number
nan:
  ret double 0x7FF8000000000000
number:
  %isInfinite = or i1 %isAInfinite, %isBZero
  br i1 %isInfinite, label %infinite, label %bounded
infinite:
  %infinityBits = or i64 9218868437227405312, %sign
  %infinity = bitcast i64 %infinityBits to double
  ret double %infinity
bounded:
  %isZero = or i1 %isAZero, %isBInfinite
  br i1 %isZero, label %zero, label %quotient
zero:
  %zeroValue = bitcast i64 %sign to double
  ret double %zeroValue
quotient:
  %isBelow = icmp ult i64 %aFraction, %bFraction
  %below = zext i1 %isBelow to i64
  %start = shl i64 %aFraction, %below
  %distance = sub i64 %aExponent, %bExponent
  %lower = sub i64 %distance, %below
  %exponent = add i64 %lower, 1023
  br label %each
each:
  %i = phi i32 [ 0, %quotient ], [ %nextI, %each ]
  %rest = phi i64 [ %start, %quotient ], [ %nextRest, %each ]
  %digits = phi i64 [ 0, %quotient ], [ %nextDigits, %each ]
  %isIn = icmp uge i64 %rest, %bFraction
  %in = zext i1 %isIn to i64
  %less = sub i64 %rest, %bFraction
  %left = select i1 %isIn, i64 %less, i64 %rest
  %nextRest = shl i64 %left, 1
  %raised = shl i64 %digits, 1
  %nextDigits = or i64 %raised, %in
  %nextI = add i32 %i, 1
  %isDone = icmp eq i32 %nextI, 63
  br i1 %isDone, label %done, label %each
done:
  %isRest = icmp ne i64 %nextRest, 0
  %more = zext i1 %isRest to i64
  %fraction = or i64 %nextDigits, %more
  %result = call double @tenon.round(i64 %sign, i64 %exponent, i64 %fraction)
  ret double %result
}

define internal double @tenon.root(double %a) nounwind {
  %bits = bitcast double %a to i64
  %magnitude = and i64 %bits, 9223372036854775807
  %isZero = icmp eq i64 %magnitude, 0
  %isInfinite = icmp eq i64 %bits, 9218868437227405312
  %isSelf = or i1 %isZero, %isInfinite
  br i1 %isSelf, label %self, label %other
self:
  ret double %a
other:
  %isNan = icmp ugt i64 %bits, 9218868437227405312 ; or below zero
  br i1 %isNan, label %nan, label %root
nan:
  ret double 0x7FF8000000000000
root:
  %parts = call %Parts @tenon.parts(i64 %bits)
  %biased = extractvalue %Parts %parts, 0
  %whole = extractvalue %Parts %parts, 1
  %unbiased = sub i64 %biased, 1023
  %odd = and i64 %unbiased, 1
  %up = add i64 %odd, 10
  %start = shl i64 %whole, %up
  %half = ashr i64 %unbiased, 1
  %exponent = add i64 %half, 1023
  br label %each
each:
  %i = phi i32 [ 0, %root ], [ %nextI, %each ]
  %digits = phi i64 [ %start, %root ], [ %nextDigits, %each ]
  %rest = phi i64 [ 0, %root ], [ %nextRest, %each ]
  %result = phi i64 [ 0, %root ], [ %nextResult, %each ]
  %two = lshr i64 %digits, 62
  %nextDigits = shl i64 %digits, 2
  %restUp = shl i64 %rest, 2
  %have = or i64 %restUp, %two
  %resultUp = shl i64 %result, 2
  %trial = or i64 %resultUp, 1
  %isIn = icmp uge i64 %have, %trial
  %in = zext i1 %isIn to i64
  %less = sub i64 %have, %trial
  %nextRest = select i1 %isIn, i64 %less, i64 %have
  %raised = shl i64 %result, 1
  %nextResult = or i64 %raised, %in
  %nextI = add i32 %i, 1
  %isDone = icmp eq i32 %nextI, 56
  br i1 %isDone, label %done, label %each
done:
  %isRest = icmp ne i64 %nextRest, 0
  %more = zext i1 %isRest to i64
  %top = shl i64 %nextResult, 7
  %fraction = or i64 %top, %more
  %value = call double @tenon.round(i64 0, i64 %exponent, i64 %fraction)
  ret double %value
}

define hidden double @sqrt(double %a) nounwind {
  %result = call double @tenon.root(double %a)
  ret double %result
}

; Twice as many digits and two more make the second rounding harmless.
define hidden float @__hexagon_sqrtf(float %a) nounwind {
  %wide = fpext float %a to double
  %root = call double @tenon.root(double %wide)
  %result = fptrunc double %root to float
  ret float %result
}

; A multiple of 8 bytes, and mostly at multiples of 8.
define hidden void @__hexagon_memcpy_likely_aligned_min32bytes_mult8bytes(ptr %to, ptr %from, i32 %bytes) nounwind {
  %a = ptrtoint ptr %to to i32
  %b = ptrtoint ptr %from to i32
  %either = or i32 %a, %b
  %low = and i32 %either, 7
  %isAligned = icmp eq i32 %low, 0
  br i1 %isAligned, label %each, label %any
any:
  %done = call ptr @memcpy(ptr %to, ptr %from, i32 %bytes)
  ret void
each:
  %i = phi i32 [ 0, %0 ], [ %next, %each ]
  %fromAt = getelementptr i8, ptr %from, i32 %i
  %toAt = getelementptr i8, ptr %to, i32 %i
  %word = load volatile i64, ptr %fromAt, align 8
  store volatile i64 %word, ptr %toAt, align 8
  %next = add i32 %i, 8
  %isMore = icmp ult i32 %next, %bytes
  br i1 %isMore, label %each, label %end
end:
  ret void
}

declare ptr @memcpy(ptr, ptr, i32)
declare i64 @llvm.ctlz.i64(i64, i1)
