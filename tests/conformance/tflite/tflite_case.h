// SPDX-License-Identifier: Apache-2.0
// TfliteCase: a small .tflite model with inputs, run by TensorFlow Lite and by us.
#pragma once

#include "core/tensor/tensor.h"
#include "tests/support/tflite_writer.h"

#include <string>
#include <vector>

namespace tenon::test {

struct TfliteCase
{
    std::string op;       ///< of the schema, or the word of several
    std::string type;     ///< of its data
    std::string what;     ///< shapes and options, for people
    std::string mistrust; ///< why TensorFlow Lite's results are wrong; "": they are not
    TfliteWriter model;
    std::vector<core::Tensor> inputs; ///< in the model's order
};

using TfliteCases = std::vector<TfliteCase>;

/// Every operator of tflite-micro's resolver, and those that only the importer has, each in all of
/// its types and several shapes and options. The same in every run.
TfliteCases allTfliteCases();

// Its parts.
void addUnaryCases(TfliteCases& all);
void addBinaryCases(TfliteCases& all);
void addLayerCases(TfliteCases& all);
void addPoolCases(TfliteCases& all);
void addReduceCases(TfliteCases& all);
void addNormalizeCases(TfliteCases& all);
void addShapeCases(TfliteCases& all);
void addSliceCases(TfliteCases& all);
void addSpectrumCases(TfliteCases& all);
void addIndexCases(TfliteCases& all);
void addQuantizeCases(TfliteCases& all);
void addRecurrentCases(TfliteCases& all);
void addCellCases(TfliteCases& all);
void addRareCases(TfliteCases& all);
void addControlCases(TfliteCases& all);
void addNetworkCases(TfliteCases& all);
void addOddCases(TfliteCases& all);
void addOddFlowCases(TfliteCases& all);

} // namespace tenon::test
