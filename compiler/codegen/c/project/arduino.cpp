// SPDX-License-Identifier: Apache-2.0
// A sketch and a library with the model: for the Uno by arduino-builder, for any board by the IDE.
#include "compiler/codegen/c/project/templates.h"

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
tiny models only.

The sketch computes once from inputs of zeros and prints the bytes of the outputs. Put your data
into the arrays `input_0` and so on.
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
    for (uint32_t i = 0; i < OUTPUT_COUNT; ++i) {
        Serial.print("output ");
        Serial.print(i);
        Serial.print(" ");
        for (uint32_t at = 0; at < outputs[i].size; ++at) {
            Serial.print(outputs[i].bytes[at] >> 4, HEX);
            Serial.print(outputs[i].bytes[at] & 15, HEX);
        }
        Serial.println();
    }
    Serial.flush();
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

core::Result<std::vector<SourceFile>> files(const SourceProgram& program)
{
    const auto demonstration = demonstrationText(program);
    if (!demonstration) return demonstration.error();
    return std::vector<SourceFile>{{"Makefile", kMakefile},
                                   {"libraries/tenon_model/library.properties", kProperties},
                                   {"sketch/sketch.ino", *demonstration + kSketch}};
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
