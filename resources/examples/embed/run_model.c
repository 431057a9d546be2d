/* SPDX-License-Identifier: MIT-0 */
/* Runs an artifact on zeros and prints its first output: run_model ARTIFACT
 *     tenon compile model.onnx -o model.so
 *     cc run_model.c $(pkg-config --cflags --libs tenon) -o run_model && ./run_model model.so */
#include <stdio.h>
#include <tenon/c_runtime_api.h>

static void must(int status)
{
    if (status == 0) return;
    fprintf(stderr, "%s\n", TVMGetLastError());
    _Exit(1);
}

static TVMValue call(TVMModuleHandle module, const char* name, TVMValue* arguments, int* codes,
                     int count)
{
    TVMFunctionHandle function = NULL;
    TVMValue result = {0};
    int code = kTVMNullptr;
    must(TVMModGetFunction(module, name, 1, &function));
    if (!function) {
        fprintf(stderr, "the artifact has no `%s`\n", name);
        _Exit(1);
    }
    must(TVMFuncCall(function, arguments, codes, count, &result, &code));
    must(TVMFuncFree(function));
    return result;
}

int main(int count, char** words)
{
    if (count != 2) {
        fprintf(stderr, "usage: run_model ARTIFACT\n");
        return 2;
    }
    TVMModuleHandle library = NULL;
    must(TVMModLoadFromFile(words[1], "so", &library));

    TVMValue device = {.v_device = {kDLCPU, 0}};
    int device_code = kDLDevice;
    TVMModuleHandle model = call(library, "default", &device, &device_code, 1).v_handle;

    TVMValue index = {.v_int64 = 0};
    int index_code = kTVMArgInt;
    call(model, "run", NULL, NULL, 0);
    DLTensor* output = call(model, "get_output", &index, &index_code, 1).v_handle;

    int64_t elements = 1;
    for (int i = 0; i < output->ndim; ++i) elements *= output->shape[i];
    if (output->dtype.code == kDLFloat && output->dtype.bits == 32)
        for (int64_t i = 0; i < elements && i < 10; ++i)
            printf("%g\n", ((const float*)output->data)[i]);
    must(TVMArrayFree(output));
    must(TVMModFree(model));
    return TVMModFree(library);
}
