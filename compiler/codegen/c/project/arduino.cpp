// SPDX-License-Identifier: Apache-2.0
// A sketch and a library with the model: for the Uno by arduino-builder, for any board by the IDE.
#include "compiler/codegen/c/c_text.h"
#include "compiler/codegen/c/micro_program.h"
#include "compiler/codegen/c/project/templates.h"
#include "core/base/text.h"

#include <iterator>

namespace tenon::compiler {
namespace {

constexpr std::string_view kPackages =
    "Debian's arduino-builder, arduino-core-avr, arduino-ctags, gcc-avr and avr-libc";

constexpr ProjectTool kBuildTools[] = {
    {"make", "Debian's make"}, {"arduino-builder", kPackages}, {"avr-gcc", kPackages}};
constexpr ProjectTool kRunTools[] = {{"simavr", "Debian's simavr"}};

constexpr ShippedFile kFiles[] = {{"micro/mps2/program.h", "program.h"},
                                  {"micro/arduino/timer.h", "timer.h"}};

constexpr const char* kMakefile =
    R"(# The model as an Arduino library with a sketch: make, make flash PORT=/dev/ttyACM0, make run.
BOARD := arduino:avr:uno
MCU := atmega328p
PORT := /dev/ttyACM0
CTAGS := "/usr/bin/arduino-ctags" -u --language-force=c++ -f - --c++-kinds=svpf --fields=KSTtzns --line-directives "{source_file}"
LIBRARY := libraries/tenon_model
IMAGE := build/sketch.ino.elf

# The server takes more memory than the Uno has.
SERVER_BOARD := arduino:avr:mega:cpu=atmega2560
SERVER_MCU := atmega2560
SERVER_LIBRARY := libraries/tenon_server
SERVER_IMAGE := build/server/server.ino.elf

.PHONY: all server server-image flash flash-image run clean
all: $(IMAGE)
server: $(SERVER_IMAGE)

# The model's files where Arduino looks for a library.
$(LIBRARY)/src: $(wildcard model/codegen/host/src/*.c model/codegen/host/include/*.h)
	@mkdir -p $@
	cp $^ $@
	@touch $@

# The on-device RPC server as another library: its line is Serial.
$(SERVER_LIBRARY)/src: served.c main.c $(wildcard *.h server/*/*/*.h server/*/*/*.c)
	@mkdir -p $@/micro/mps2
	cp -r server/include server/micro $@
	cp served.c main.c $@/micro/mps2
	cp transport.h timer.h board.h program.h $@
	@touch $@

BUILDER = arduino-builder -compile -hardware /usr/share/arduino/hardware -tools $(CURDIR)/tools \
    -libraries $(CURDIR)/libraries -warnings none -prefs=runtime.tools.avr-gcc.path=/usr \
    -prefs=compiler.path=/usr/bin/ '-prefs=tools.ctags.pattern=$(CTAGS)' -prefs=tools.ctags.path=/usr/bin \
    -prefs=tools.ctags.cmd.path=/usr/bin/arduino-ctags \
    -prefs=compiler.cpp.extra_flags=-DDECIMAL_DIG=__DECIMAL_DIG__

$(IMAGE): sketch/sketch.ino $(LIBRARY)/src
	@mkdir -p build tools
	$(BUILDER) -fqbn $(BOARD) -build-path $(CURDIR)/build sketch/sketch.ino

$(SERVER_IMAGE): server_sketch/server.ino $(LIBRARY)/src $(SERVER_LIBRARY)/src
	@mkdir -p build/server tools server_sketch/server
	cp server_sketch/server.ino server_sketch/server/server.ino
	$(BUILDER) '-prefs=compiler.c.extra_flags=-DSERVE_WITHOUT_MAIN' -fqbn $(SERVER_BOARD) \
	    -build-path $(CURDIR)/build/server server_sketch/server/server.ino

# For `tenon board add --serial`: an image of the server that says what is in it (MANIFEST), and how
# it is brought to the board.
MANIFEST := project.json
OUT := build/image.elf
server-image: $(SERVER_IMAGE)
	avr-objcopy --add-section .tenon.manifest=$(MANIFEST) $< $(OUT)
flash-image:
	avrdude -p $(SERVER_MCU) -c wiring -D -P $(PORT) -U flash:w:$(IMAGE):e

# avrdude comes with Debian's package of that name.
flash: $(IMAGE)
	avrdude -p $(MCU) -c arduino -P $(PORT) -U flash:w:build/sketch.ino.hex

# In a simulator, which ends when the sketch sleeps.
run: $(IMAGE)
	simavr -m $(MCU) -f 16000000 $(IMAGE)

clean:
	rm -rf build tools $(LIBRARY)/src $(SERVER_LIBRARY)/src server_sketch/server
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

constexpr const char* kServerProperties = R"(name=tenon_server
version=1.0.0
author=Tenon
maintainer=Tenon
sentence=An RPC server for a model.
paragraph=Tenon and microTVM drive the model over the serial port.
category=Communication
url=https://example.org
architectures=*
includes=program.h
)";

constexpr const char* kServerSketch = R"(/* Serves the model to Tenon and microTVM over Serial. */
#include <program.h>
#include <tvmgen_MODULE.h>

extern "C" {
int32_t serve_begin(void);
int32_t serve_some(void);

size_t arduino_read(uint8_t* bytes, size_t most)
{
    size_t count = 0;
    while (count < most && Serial.available() > 0) bytes[count++] = (uint8_t)Serial.read();
    return count;
}

void arduino_write(const uint8_t* bytes, size_t size) { Serial.write(bytes, size); }
}

void setup()
{
    Serial.begin(115200);
    serve_begin();
}

void loop() { serve_some(); }
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
    // Arduino compiles libraries as they are: nobody marks the calls.
    SourceProgram plain = program;
    plain.isMarked = false;
    auto out = serverFiles(plain, "arduino",
                           "qemu-system-avr -M mega2560 -display none -monitor none -serial stdio "
                           "-bios build/server/server.ino.elf");
    if (!out) return out;
    auto shipped = shippedFiles(kFiles);
    if (!shipped) return shipped;
    std::move(shipped->begin(), shipped->end(), std::back_inserter(*out));
    const std::string sketch =
        core::replaced(kServerSketch, "MODULE", cName(program.program.moduleName));
    for (const auto& [path, text] :
         {std::pair<const char*, std::string>{"Makefile", kMakefile},
          {"libraries/tenon_model/library.properties", kProperties},
          {"libraries/tenon_server/library.properties", kServerProperties},
          {"main.c", microMainText(plain)},
          {"server_sketch/server.ino", sketch},
          {"sketch/sketch.ino", *demonstration + kSketch}})
        out->push_back({path, text});
    return out;
}

} // namespace

constinit const ProjectTemplate arduinoTemplate = {
    .name = "arduino",
    .title = "a sketch with the model as a library, for the Uno and others",
    .target = "c",
    .buildTools = kBuildTools,
    .runTools = kRunTools,
    .serves = true,
    .files = files};

} // namespace tenon::compiler
