# SPDX-License-Identifier: Apache-2.0
# The one helper: language level, warnings, include root, sanitizer and precompiled headers for every target
# of ours. TENON_HEADERS, set by folders, names the kind of headers (TenonPrecompile.cmake).
include(TenonPrecompile)

function(tenon_compile_options target)
    tenon_warnings(${target})
    if(TENON_HEADERS)
        tenon_precompile(${target} ${TENON_HEADERS})
    endif()
endfunction()

function(tenon_warnings target)
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>)
    target_compile_features(${target} PUBLIC cxx_std_20 c_std_11)
    target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wold-style-cast;-Wnon-virtual-dtor;-Woverloaded-virtual;-Wno-missing-field-initializers>
        $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wpedantic;-Wconversion;-Wstrict-prototypes;-Wmissing-prototypes>)
    # What fails names its source as it lies in the project, on whatever computer it was built.
    target_compile_options(${target} PRIVATE -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
    if(TENON_WERROR)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
    if(TENON_SANITIZE)
        target_compile_options(${target} PUBLIC -fsanitize=${TENON_SANITIZE} -fno-omit-frame-pointer)
        target_link_options(${target} PUBLIC -fsanitize=${TENON_SANITIZE})
    endif()
endfunction()

# tenon_add_library(name SOURCES ... PUBLIC ... PRIVATE ...): static library tenon_<name>, alias tenon::<name>.
function(tenon_add_library name)
    cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
    add_library(tenon_${name} STATIC ${ARG_SOURCES})
    add_library(tenon::${name} ALIAS tenon_${name})
    set_target_properties(tenon_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(tenon_${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
    if(TENON_HEADERS STREQUAL tests) # those are read for programs; this is position independent
        set(TENON_HEADERS standard)
    endif()
    tenon_compile_options(tenon_${name})
endfunction()
