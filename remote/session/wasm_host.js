// SPDX-License-Identifier: Apache-2.0
// Runs a compiled WebAssembly module: argv is the module, the request (JSON), a file with the bytes
// of all inputs, and the files for the bytes of all outputs and for the times.
'use strict';
const fs = require('fs');
const [modulePath, requestPath, inputPath, outputPath, timesPath] = process.argv.slice(1);

const kHandle = 7; // kTVMDLTensorHandle
const kCpu = 1;

function main() {
  const request = JSON.parse(fs.readFileSync(requestPath, 'utf8'));
  const module = new WebAssembly.Module(fs.readFileSync(modulePath));
  const { exports } = new WebAssembly.Instance(module, {});
  exports._initialize();

  const take = (bytes) => {
    const at = exports.TVMBackendAllocWorkspace(kCpu, 0, BigInt(Math.max(bytes, 1)), 2, 8) >>> 0;
    if (at === 0) throw new Error(`out of memory for ${bytes} bytes`);
    return at;
  };
  const view = () => new DataView(exports.memory.buffer); // growing the memory ends older views
  const kTensorBytes = 40; // a DLTensor with 32-bit pointers
  const makeTensor = (tensor) => {
    const data = take(tensor.bytes);
    const shape = take(8 * tensor.shape.length);
    const at = take(kTensorBytes);
    const memory = view();
    tensor.shape.forEach((size, i) => memory.setBigInt64(shape + 8 * i, BigInt(size), true));
    [data, kCpu, 0, tensor.shape.length].forEach((word, i) => memory.setUint32(at + 4 * i, word, true));
    memory.setUint8(at + 16, tensor.code);
    memory.setUint8(at + 17, tensor.bits);
    memory.setUint16(at + 18, 1, true);
    memory.setUint32(at + 20, shape, true);
    memory.setUint32(at + 24, 0, true); // no strides: compact
    memory.setBigUint64(at + 32, 0n, true);
    return { at, data, bytes: tensor.bytes };
  };

  const inputs = request.inputs.map(makeTensor);
  const outputs = request.outputs.map(makeTensor);
  const all = [...inputs, ...outputs];
  const values = take(8 * all.length);
  const codes = take(4 * all.length);
  const result = take(16);
  all.forEach((tensor, i) => {
    view().setBigUint64(values + 8 * i, BigInt(tensor.at), true);
    view().setInt32(codes + 4 * i, kHandle, true);
  });
  const given = fs.readFileSync(inputPath);
  let offset = 0;
  for (const tensor of inputs) {
    new Uint8Array(exports.memory.buffer).set(given.subarray(offset, offset + tensor.bytes), tensor.data);
    offset += tensor.bytes;
  }

  const run = (entry = request.entry) => {
    if (exports[entry](values, codes, all.length, result, result + 8, 0) === 0) return;
    const text = view().getUint32(exports.tenon_last_error.value, true);
    const bytes = new Uint8Array(exports.memory.buffer, text);
    throw new Error(Buffer.from(bytes.subarray(0, bytes.indexOf(0))).toString());
  };
  const runsMs = [];
  run();
  for (let repeat = 0; repeat < request.repeat; ++repeat) {
    let number = request.number;
    for (;;) {
      const start = process.hrtime.bigint();
      for (let i = 0; i < number; ++i) run();
      const ms = Number(process.hrtime.bigint() - start) / 1e6;
      if (ms >= request.minRepeatMs) {
        runsMs.push(ms / number);
        break;
      }
      number *= 2;
    }
  }

  // The instrumented entry calls back with i before its call i, and once more at the end. Only
  // WebAssembly functions fit the table: a module around the JavaScript one makes it one.
  const callsMs = [];
  const bytes = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 1, 127, 0, 2, 7, 1, 1, 109, 1, 102, 0, 0,
    7, 5, 1, 1, 102, 0, 0];
  const profile = (rounds) => {
    let last = 0n;
    const mark = (call) => {
      const now = process.hrtime.bigint();
      if (call > 0) (callsMs[call - 1] ??= []).push(Number(now - last) / 1e6);
      last = process.hrtime.bigint();
    };
    const wrapper = new WebAssembly.Module(new Uint8Array(bytes));
    const table = exports.__indirect_function_table;
    const slot = table.grow(1, new WebAssembly.Instance(wrapper, { m: { f: mark } }).exports.f);
    view().setUint32(exports.__TenonProfileMark.value, slot, true);
    for (let i = 0; i < rounds; ++i) run(request.profile);
  };
  if (request.perCall && runsMs.length > 0) {
    profile(Math.min(200, Math.max(5, Math.ceil(1000 / Math.max(runsMs[0], 1e-3)))));
  }

  const file = fs.openSync(outputPath, 'w');
  for (const tensor of outputs) {
    fs.writeSync(file, new Uint8Array(exports.memory.buffer, tensor.data, tensor.bytes));
  }
  fs.closeSync(file);
  fs.writeFileSync(timesPath, JSON.stringify({ runsMs, callsMs }));
}

try {
  main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
