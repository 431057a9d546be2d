// SPDX-License-Identifier: Apache-2.0
// Runs cases by TensorFlow Lite as WebAssembly: in every folder below CASES it reads model.tflite and
// test_data_set_*/input_I.pb and writes output_I.pb, or reference_error.txt with what the runtime says.
//
// usage: node run_reference.cjs WASM CASES
// WASM is the folder wasm/ of the npm package @tensorflow/tfjs-tflite. One interpreter for each case
// runs its data sets one after the other, so that what a model remembers is seen; a new one where a
// runtime that failed cannot go on.
'use strict';
const fs = require('fs');
const path = require('path');

global.self = global;
const [wasm, root] = process.argv.slice(2);
const makeModule = require(path.join(wasm, 'tflite_web_api_cc_simd.js'));

/// ONNX's numbers of what the runtime calls its types.
const TYPES = {float32: 1, uint8: 2, int8: 3, int16: 5, int32: 6, int64: 7, bool: 9, float64: 11};

/// What the runtime says in good order: it can go on.
class Refusal extends Error {}

function varint(bytes, at) {
    let value = 0, scale = 1;
    for (;;) {
        const byte = bytes[at++];
        value += (byte & 127) * scale;
        scale *= 128;
        if (byte < 128) return [value, at];
    }
}

/// The fields of a protobuf message: numbers, and bytes of what has a length.
function fields(bytes) {
    const out = [];
    for (let at = 0; at < bytes.length;) {
        let key, value;
        [key, at] = varint(bytes, at);
        [value, at] = varint(bytes, at);
        if ((key & 7) === 2) {
            out.push([key >> 3, bytes.subarray(at, at + value)]);
            at += value;
        } else {
            out.push([key >> 3, value]);
        }
    }
    return out;
}

function rawData(file) {
    const raw = fields(fs.readFileSync(file)).find(([number]) => number === 9);
    return raw ? raw[1] : new Uint8Array(0);
}

function written(value) {
    const out = [];
    for (; value > 127; value = Math.floor(value / 128)) out.push((value % 128) | 128);
    out.push(value);
    return Buffer.from(out);
}

function tensorFile(type, shape, raw) {
    const parts = [];
    for (const dim of shape) parts.push(Buffer.from([1 << 3]), written(dim));
    parts.push(Buffer.from([2 << 3]), written(type));
    parts.push(Buffer.from([(9 << 3) | 2]), written(raw.length), Buffer.from(raw));
    return Buffer.concat(parts);
}

function list(vector) {
    const out = [];
    for (let i = 0; i < vector.size(); ++i) out.push(vector.get(i));
    vector.delete();
    return out;
}

function shapeOf(info) {
    return info.shape.split(',').filter((text) => text !== '').map(Number);
}

/// The runtime's bytes of a tensor: it gives arrays of numbers over its memory.
function bytesOf(info) {
    const data = info.data();
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

function runSet(runner, folder) {
    list(runner.GetInputs()).forEach((input, i) => {
        const raw = rawData(path.join(folder, `input_${i}.pb`));
        const place = bytesOf(input);
        if (raw.length !== place.length)
            throw new Error(`input ${i} has ${raw.length} bytes, the runtime wants ${place.length}`);
        place.set(raw);
    });
    if (!runner.Infer()) throw new Refusal('the runtime failed while it ran');
    list(runner.GetOutputs()).forEach((output, i) => {
        const type = TYPES[output.dataType];
        if (!type) throw new Error(`output ${i} has the type ${output.dataType}`);
        fs.writeFileSync(path.join(folder, `output_${i}.pb`),
                         tensorFile(type, shapeOf(output), bytesOf(output)));
    });
}

function runCase(module, folder) {
    const file = fs.readFileSync(path.join(folder, 'model.tflite'));
    const at = module._malloc(file.length);
    module.HEAPU8.set(file, at);
    const made = module.TFLiteWebModelRunner.CreateFromBufferAndOptions(
        at, file.length,
        {numThreads: 1, enableProfiling: false, maxProfilingBufferEntries: 1});
    if (!made.ok()) throw new Refusal(made.errorMessage());
    const runner = made.value();
    for (let set = 0;; ++set) {
        const data = path.join(folder, `test_data_set_${set}`);
        if (!fs.existsSync(data)) break;
        runSet(runner, data);
    }
    runner.delete();
    module._free(at);
}

/// The folder's cases one after the other; the module is made anew after a failure.
async function main() {
    let said = [];
    // The module becomes what it is given: each needs its own.
    const options = () => ({
        wasmBinary: fs.readFileSync(path.join(wasm, 'tflite_web_api_cc_simd.wasm')),
        print: (text) => said.push(text),
        printErr: (text) => said.push(text)
    });
    let module = null, passed = 0, refused = 0;
    for (const name of fs.readdirSync(root).sort()) {
        const folder = path.join(root, name);
        if (!fs.existsSync(path.join(folder, 'model.tflite'))) continue;
        const error = path.join(folder, 'reference_error.txt');
        fs.rmSync(error, {force: true});
        said = [];
        try {
            module = module || await makeModule(options());
            runCase(module, folder);
            ++passed;
        } catch (failure) {
            if (!(failure instanceof Refusal)) module = null;
            ++refused;
            const lines = said.filter((line) => !line.startsWith('INFO')).concat(String(failure));
            fs.writeFileSync(error, lines.join('\n') + '\n');
        }
    }
    console.log(`${passed} cases ran by TensorFlow Lite, ${refused} were refused`);
}

main();
