// SPDX-License-Identifier: Apache-2.0
// A sketch and a library with the model: for the Uno by arduino-builder, for any board by the IDE.
#include "compiler/codegen/c/c_text.h"
#include "compiler/codegen/c/project/templates.h"
#include "compiler/executor/program.h"
#include "core/base/text.h"

namespace tenon::compiler {
namespace {

constexpr std::string_view kPackages =
    "Debian's arduino-builder, arduino-core-avr, arduino-ctags, gcc-avr and avr-libc";

constexpr ProjectTool kBuildTools[] = {
    {"make", "Debian's make"}, {"arduino-builder", kPackages}, {"avr-gcc", kPackages}};
constexpr ProjectTool kRunTools[] = {{"simavr", "Debian's simavr"}};

constexpr const char* kMakefile =
    R"(# The model as an Arduino library with a sketch: make, make flash PORT=/dev/ttyACM0, make run.
BOARD := arduino:avr:uno
MCU := atmega328p
PORT := /dev/ttyACM0
CTAGS := "/usr/bin/arduino-ctags" -u --language-force=c++ -f - --c++-kinds=svpf --fields=KSTtzns --line-directives "{source_file}"
LIBRARY := libraries/tenon_model
IMAGE := build/sketch.ino.elf

.PHONY: all flash run clean
all: $(IMAGE)

$(IMAGE): sketch/sketch.ino $(wildcard $(LIBRARY)/src/*)
	@mkdir -p build tools
	arduino-builder -compile -hardware /usr/share/arduino/hardware -tools $(CURDIR)/tools -libraries $(CURDIR)/libraries \
	    -fqbn $(BOARD) -build-path $(CURDIR)/build -warnings none -prefs=runtime.tools.avr-gcc.path=/usr \
	    -prefs=compiler.path=/usr/bin/ '-prefs=tools.ctags.pattern=$(CTAGS)' -prefs=tools.ctags.path=/usr/bin \
	    -prefs=tools.ctags.cmd.path=/usr/bin/arduino-ctags \
	    -prefs=compiler.cpp.extra_flags=-DDECIMAL_DIG=__DECIMAL_DIG__ sketch/sketch.ino

# avrdude comes with Debian's package of that name.
flash: $(IMAGE)
	avrdude -p $(MCU) -c arduino -P $(PORT) -U flash:w:build/sketch.ino.hex

# In a simulator, which ends when the sketch sleeps.
run: $(IMAGE)
	simavr -m $(MCU) -f 16000000 $(IMAGE)

clean:
	rm -rf build tools
)";

constexpr const char* kNotes =
    R"(In the Arduino IDE: copy `libraries/tenon_model` into `libraries` of your sketchbook, or take it
with Sketch > Include Library > Add .ZIP Library as an archive, and open `sketch/sketch.ino`. The
library holds for every board that the IDE knows; `make` builds for the Uno, whose 2 KB of RAM hold
tiny models only. A board with a Cortex-M computes faster with a project that is made for it: the command above with `--target 'c -mcpu=cortex-m4'` (Nano 33 BLE, Uno R4), `cortex-m7`
(Giga, Portenta, Teensy 4), `cortex-m0plus` (Zero, MKR, Nano RP2040).

The sketch computes once, from inputs of zeros, and prints the outputs to the serial line at 115200
baud: in the IDE's Tools > Serial Monitor, with `make run` on the terminal. Put your data into the
arrays `input_0` and so on, in the order of the table, before `infer()` in `setup()`:

    static const float mine[] = {0.5f, 1.0f}; // of the table's type, row by row
    memcpy(input_0, mine, sizeof mine);
)";

constexpr const char* kProperties = R"(name=tenon_model
version=1.0.0
author=Tenon
maintainer=Tenon
sentence=A model as C source.
paragraph=One function that computes the outputs of a neural network from its inputs.
category=Data Processing
url=https://example.org
architectures=*
includes=tvmgen_default.h
)";

constexpr const char* kSketch = R"(
void setup()
{
    Serial.begin(115200);
    const int32_t code = infer();
    Serial.print("code ");
    Serial.println(code);
@OUTPUTS@    Serial.flush();
}

void loop()
{
#if defined(__AVR__)
    noInterrupts(); // a simulator takes sleep without interrupts for the end
    SMCR = 1;
    __asm__ volatile("sleep");
#endif
}
)";

/// What reads an element and how it is printed; "" for types that Arduino's `print` does not have,
/// whose bytes are shown.
std::string printedElement(core::DataType dtype, const std::string& buffer)
{
    const auto read = [&](const char* as, const char* type) {
        return std::string(as) + "((const " + type + "*)" + buffer + ")[at]";
    };
    if (dtype == core::kFloat32) return read("", "float") + ", 7";
    if (dtype == core::kInt8) return read("(int)", "int8_t");
    if (dtype == core::kUInt8 || dtype.isBool()) return read("(unsigned)", "uint8_t");
    if (dtype == core::kInt16) return read("", "int16_t");
    if (dtype == core::kUInt16) return read("", "uint16_t");
    if (dtype == core::kInt32) return read("(long)", "int32_t");
    if (dtype == core::kUInt32) return read("(unsigned long)", "uint32_t");
    return "";
}

std::string printedOutputs(const ExecutorProgram& program)
{
    std::string out;
    for (size_t i = 0; i < program.outputs.size(); ++i) {
        const ProgramTensor& tensor = program.tensors[static_cast<size_t>(program.outputs[i])];
        const std::string buffer = "output_" + std::to_string(i);
        const std::string element = printedElement(tensor.dtype, buffer);
        const int64_t count = tensor.bytes() / (element.empty() ? 1 : tensor.dtype.bytes());
        const std::string how = element.empty() ? buffer + "[at], HEX" : element;
        out += "    Serial.print(F(" +
               cString("output " + program.outputNames[i] + (element.empty() ? ", bytes:" : ":")) +
               "));\n    for (uint32_t at = 0; at < " + std::to_string(count) +
               "; ++at) {\n        Serial.print(' ');\n        Serial.print(" + how +
               ");\n    }\n    Serial.println();\n";
    }
    return out;
}

core::Result<std::vector<SourceFile>> files(const SourceProgram& program)
{
    const auto demonstration = demonstrationText(program);
    if (!demonstration) return demonstration.error();
    return std::vector<SourceFile>{
        {"Makefile", kMakefile},
        {"libraries/tenon_model/library.properties", kProperties},
        {"sketch/sketch.ino",
         *demonstration + core::replaced(kSketch, "@OUTPUTS@", printedOutputs(program.program))}};
}

} // namespace

constinit const ProjectTemplate arduinoTemplate = {
    .name = "arduino",
    .title = "a sketch with the model as a library, for the Uno and others",
    .target = "c",
    .buildTools = kBuildTools,
    .runTools = kRunTools,
    .library = "libraries/tenon_model/src",
    .notes = kNotes,
    .files = files};

} // namespace tenon::compiler
