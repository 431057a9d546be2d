# SPDX-License-Identifier: Apache-2.0
"""Figures of stock TVM 0.16 that the benchmarks set beside their own.

Measured once on another machine, the reference machine: AMD EPYC of family 25 model 17 (Zen 4),
3.65 GHz, idle; TVM 0.16 `relay.build` at opt level 3 for `llvm -mcpu=znver4`, untuned; ONNX Runtime
1.30 on the same files. TVM's ratio to ONNX Runtime carries over to another machine better than its
times do; what is derived from it here is an estimate, not a measurement.
"""
SOURCE = ("stock TVM 0.16, untuned: relay.build opt 3, llvm -mcpu=znver4, measured on another "
          "machine (Zen 4) beside ONNX Runtime 1.30")

# model: median ms of ONNX Runtime on 1 and 2 threads, of TVM on 1 and 2; TVM's import, build and
# export in seconds
_FIGURES = {
    "resnet18": (34.269, 17.675, 34.073, 17.342, 9.2),
    "resnet50": (76.454, 40.644, 79.973, 41.064, 20.7),
    "mobilenet_v2": (7.534, 6.849, 8.557, 6.089, 18.8),
    "squeezenet1_1": (6.969, 3.515, 7.604, 4.693, 10.5),
    "unet_small": (8.997, 6.911, 12.406, 7.079, 6.2),
    "bert_tiny": (1.709, 0.974, 2.517, 1.787, 14.2),
    "vit_tiny": (27.404, 23.396, 87.368, 43.808, 66.8),
    "kws_dscnn": (0.072, 0.128, 0.057, 0.109, 3.1),
    "ic_resnet8": (0.241, 0.143, 0.238, 0.303, 4.1),
}


def ratio_to_ort(model, threads):
    """TVM's latency over ONNX Runtime's; None where it was not measured."""
    figures = _FIGURES.get(model)
    if not figures or threads not in (1, 2):
        return None
    return figures[1 + threads] / figures[threads - 1]


def build_seconds(model):
    figures = _FIGURES.get(model)
    return figures[4] if figures else None
