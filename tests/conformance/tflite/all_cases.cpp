// SPDX-License-Identifier: Apache-2.0
// The list of all cases.
#include "tests/conformance/tflite/tflite_case.h"

namespace tenon::test {

TfliteCases allTfliteCases()
{
    TfliteCases all;
    for (const auto add :
         {addUnaryCases, addBinaryCases, addLayerCases, addPoolCases, addReduceCases,
          addNormalizeCases, addShapeCases, addSliceCases, addSpectrumCases, addIndexCases,
          addQuantizeCases, addRecurrentCases, addCellCases, addRareCases, addControlCases,
          addNetworkCases, addOddCases, addOddFlowCases})
        add(all);
    return all;
}

} // namespace tenon::test
