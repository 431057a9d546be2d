// SPDX-License-Identifier: Apache-2.0
// Spectra of sounds and pictures, by their size or their two parts.
#include "tests/conformance/tflite/case_builder.h"

namespace tenon::test {
namespace {

constexpr Numbers kComplex{"complex64", TfliteType::Complex64};

struct Spectrum
{
    Shape32 in, out; ///< out: of RFFT2D
    std::vector<int32_t> lengths;
};

const Spectrum kSpectra[] = {{{3, 1, 16}, {3, 1, 9}, {1, 16}},
                             {{2, 3, 1, 512}, {2, 3, 1, 257}, {1, 512}},
                             {{2, 1, 25}, {2, 1, 17}, {1, 32}}, // zeros behind
                             {{2, 5, 20}, {2, 1, 9}, {1, 16}},  // cut
                             {{4, 8}, {4, 5}, {4, 8}},          // both axes
                             {{2, 7, 11}, {2, 8, 9}, {8, 16}}};

void addReaders(TfliteCases& all, const Spectrum& spectrum)
{
    for (const char* reader : {"COMPLEX_ABS", "REAL", "IMAG"}) {
        CaseBuilder c(all, "RFFT2D", "float32",
                      shapeText(spectrum.in) + " to " + shapeText(spectrum.out) + " " + reader);
        const int complex = c.between(kComplex, spectrum.out);
        c.op({c.input(kFloats, spectrum.in), c.integers(spectrum.lengths)}, {complex});
        c.model().op(reader, {complex}, {c.output(kFloats, spectrum.out)});
    }
}

} // namespace

void addSpectrumCases(TfliteCases& all)
{
    for (const Spectrum& spectrum : kSpectra) addReaders(all, spectrum);
    // As converters write a transform of rows: the axis that RFFT2D wants is taken away again.
    CaseBuilder c(all, "RFFT2D", "float32", "of rows, moved and given another shape");
    const int rows = c.between(kComplex, {6, 1, 17}), flat = c.between(kComplex, {6, 17}),
              pairs = c.between(kComplex, {2, 3, 17}), turned = c.between(kComplex, {17, 2, 3}),
              wide = c.between(kComplex, {17, 2, 3, 1});
    c.op({c.input(kFloats, {6, 1, 32}), c.integers({1, 32})}, {rows});
    c.model().op("SQUEEZE", {rows}, {flat}, FlatOut().numbers(0, std::vector<int32_t>{1}));
    c.model().op("RESHAPE", {flat, c.integers({2, -1, 17})}, {pairs});
    c.model().op("TRANSPOSE", {pairs, c.integers({2, 0, 1})}, {turned});
    c.model().op("EXPAND_DIMS", {turned, c.integers({-1})}, {wide});
    c.model().op("COMPLEX_ABS", {wide}, {c.output(kFloats, {17, 2, 3, 1})});
}

} // namespace tenon::test
