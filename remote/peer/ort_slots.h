/* SPDX-License-Identifier: Apache-2.0 */
/* Slots of the function table that OrtGetApiBase() leads to, for C and C++. The table only ever
 * grows at its end, so they hold from API version 7 (the one asked for) onwards; checked against
 * onnxruntime_c_api.h of ONNX Runtime 1.14 and run against 1.30. */
#ifndef TENON_REMOTE_PEER_ORT_SLOTS_H
#define TENON_REMOTE_PEER_ORT_SLOTS_H

enum
{
    kOrtApiVersion = 7,
    kOrtLogError = 3,
    kOrtDisableOptimisations = 0,
    kOrtEnableAllOptimisations = 99,
    kOrtArenaAllocator = 1,
    kOrtDefaultMemory = 0
};

enum
{
    kOrtGetErrorMessage = 2,
    kOrtCreateEnv = 3,
    kOrtCreateSession = 7,
    kOrtCreateSessionOptions = 10,
    kOrtSetGraphOptimizationLevel = 23,
    kOrtSetIntraOpNumThreads = 24,
    kOrtSetInterOpNumThreads = 25,
    kOrtSessionGetInputCount = 30,
    kOrtSessionGetOutputCount = 31,
    kOrtSessionGetInputName = 36,
    kOrtSessionGetOutputName = 37,
    kOrtCreateTensorWithData = 49,
    kOrtGetTensorMutableData = 51,
    kOrtGetTensorElementType = 60,
    kOrtGetDimensionsCount = 61,
    kOrtGetDimensions = 62,
    kOrtGetTensorTypeAndShape = 65,
    kOrtCreateCpuMemoryInfo = 69,
    kOrtGetDefaultAllocator = 78,
    kOrtReleaseStatus = 93,
    kOrtReleaseSession = 95,
    kOrtReleaseValue = 96,
    kOrtReleaseTensorTypeAndShape = 99,
    kOrtRunWithBinding = 133,
    kOrtCreateIoBinding = 134,
    kOrtReleaseIoBinding = 135,
    kOrtBindInput = 136,
    kOrtBindOutput = 137,
    kOrtBindOutputToDevice = 138,
    kOrtGetBoundOutputValues = 140
};

#endif
