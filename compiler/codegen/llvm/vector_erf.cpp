// SPDX-License-Identifier: Apache-2.0
// erf for AVX-512: polynomials of short intervals, whose coefficients are looked up in registers.
#include "compiler/codegen/llvm/vector_math.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>

namespace tenon::compiler {
namespace {

constexpr int kIntervals = 32; ///< what one instruction looks up
constexpr double kPerUnit = 8;
constexpr size_t kDegree = 4;

/// By degree: coefficients of erf((n + r) / 8) for |r| <= 1/2, least squares that were weighted
/// until the largest error was least; relative to erf in the first interval, where r >= 0. From
/// 3.8125 on erf is 1 to binary32's last digit but one.
constexpr float kCoefficients[kDegree + 1][kIntervals] = {
    {0.0F,         0.140316203F, 0.276326388F, 0.404116899F, 0.520499885F, 0.623240888F,
     0.711155653F, 0.784075081F, 0.842700779F, 0.888388216F, 0.92290014F,  0.948170066F,
     0.966105163F, 0.978443742F, 0.986671686F, 0.99199003F,  0.995322287F, 0.997345984F,
     0.998537302F, 0.999217033F, 0.999593019F, 0.999794602F, 0.999899387F, 0.999952137F,
     0.999977887F, 0.999990106F, 0.999995708F, 0.999998212F, 0.999999285F, 0.999999702F,
     0.999999881F, 1.0F},
    {0.141047388F,    0.138860598F,    0.132501721F,    0.122544073F,
     0.109847821F,    0.0954374596F,   0.0803664178F,   0.0655931681F,
     0.0518884771F,   0.0397842824F,   0.0295651685F,   0.0212949906F,
     0.0148662953F,   0.0100590335F,   0.00659687072F,  0.00419322168F,
     0.00258336542F,  0.0015425951F,   0.000892783515F, 0.000500804745F,
     0.000272281875F, 0.00014348187F,  7.32830085e-05F, 3.62775136e-05F,
     1.74060242e-05F, 8.09449102e-06F, 3.6484405e-06F,  1.59386968e-06F,
     6.74879232e-07F, 2.76966347e-07F, 1.10168024e-07F, 0.0F},
    {1.07301176e-07F,  -0.00216969335F,  -0.00414067227F,  -0.0057442449F,
     -0.00686547952F,  -0.00745604234F,  -0.00753434328F,  -0.00717424648F,
     -0.00648605544F,  -0.00559466239F,  -0.00461955741F,  -0.00366007746F,
     -0.0027874324F,   -0.00204324373F,  -0.00144306803F,  -0.000982788741F,
     -0.000645843393F, -0.000409753469F, -0.000251096586F, -0.000148677282F,
     -8.50886863e-05F, -4.70803789e-05F, -2.51912788e-05F, -1.30373774e-05F,
     -6.52734388e-06F, -3.16195724e-06F, -1.48220408e-06F, -6.72426665e-07F,
     -2.95266034e-07F, -1.25503419e-07F, -5.16426653e-08F, 0.0F},
    {-0.000735695416F, -0.000699639029F, -0.000603086432F, -0.000458309194F,
     -0.000285992544F, -0.00010899482F,  5.18148736e-05F,  0.000180851144F,
     0.000269593089F,  0.000316705264F,  0.000326768553F,  0.00030818017F,
     0.000270858087F,  0.000224277639F,  0.000176151356F,  0.000131829991F,
     9.43101695e-05F,  6.46452754e-05F,  4.25323815e-05F,  2.68971544e-05F,
     1.63671284e-05F,  9.59186491e-06F,  5.41769077e-06F,  2.95100017e-06F,
     1.55092187e-06F,  7.86801309e-07F,  3.85440046e-07F,  1.82391929e-07F,
     8.33937932e-08F,  3.6850949e-08F,   1.57414828e-08F,  0.0F},
    {3.43805505e-06F,  1.67364233e-05F,  3.09336319e-05F,  4.05862629e-05F,
     4.4614244e-05F,   4.30121108e-05F,  3.67439898e-05F,  2.74232516e-05F,
     1.68984243e-05F,  6.85529449e-06F,  -1.46826233e-06F, -7.40949281e-06F,
     -1.08561653e-05F, -1.21144612e-05F, -1.17287473e-05F, -1.03104921e-05F,
     -8.40863777e-06F, -6.43877684e-06F, -4.66386746e-06F, -3.21154266e-06F,
     -2.10974008e-06F, -1.32559842e-06F, -7.98204439e-07F, -4.61317825e-07F,
     -2.56212786e-07F, -1.36882292e-07F, -7.04037291e-08F, -3.48854208e-08F,
     -1.66627441e-08F, -7.67572494e-09F, -3.41148865e-09F, 0.0F},
};

} // namespace

llvm::Value* VectorMath::erf512(llvm::Value* x)
{
    constexpr double kShifter = 0x1.8p23;
    llvm::Value* magnitude = notAbove(abs(x), 3.93);
    llvm::Value* shifted = fma(magnitude, constant(kPerUnit), constant(kShifter));
    llvm::Value* r = fma(magnitude, constant(kPerUnit), neg(sub(shifted, constant(kShifter))));
    llvm::Value* interval = m_b.CreateBitCast(shifted, m_intType); // its low bits are looked at
    llvm::Value* sum = nullptr;
    for (size_t degree = kDegree + 1; degree-- > 0;) {
        const auto half = [&](size_t first) {
            return llvm::ConstantDataVector::get(
                m_b.getContext(),
                llvm::ArrayRef<float>(&kCoefficients[degree][first], kIntervals / 2));
        };
        llvm::Value* coefficient =
            m_b.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_ps_512, {},
                                {half(0), interval, half(kIntervals / 2)});
        sum = sum ? fma(sum, r, coefficient) : coefficient;
    }
    return withSignOf(sum, x);
}

} // namespace tenon::compiler
