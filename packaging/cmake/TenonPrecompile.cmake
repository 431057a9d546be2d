# SPDX-License-Identifier: Apache-2.0
# What nearly every source reads is read once: most of a build's time went to headers of other people. Only
# theirs: a change to one of ours would build everything anew. No header whose names are found by argument
# for ours (that is why <filesystem>, with std::quoted, is not here).
option(TENON_PRECOMPILE "read the headers of other people once per kind of target" ON)

set(TENON_STANDARD_HEADERS <algorithm> <array> <bit> <charconv> <chrono> <cmath> <cstdint> <cstdio> <cstdlib>
    <cstring> <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <string>
    <string_view> <thread> <tuple> <unordered_map> <unordered_set> <utility> <variant> <vector>)

# tenon_headers(kind pic [LINK targets...] [HEADERS headers...]): a kind of targets and what they share.
# Compilers take such headers only with the flags that they were read with: a kind is a set of flags.
function(tenon_headers kind pic)
    cmake_parse_arguments(ARG "" "" "LINK;HEADERS" ${ARGN})
    if(NOT TENON_PRECOMPILE)
        return()
    endif()
    set(source ${CMAKE_BINARY_DIR}/generated/headers/${kind}.cpp)
    if(NOT EXISTS ${source})
        file(WRITE ${source} "// Nothing: this target is its precompiled headers.\n")
    endif()
    set(target tenon_headers_${kind})
    add_library(${target} OBJECT ${source})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ${pic} AUTOMOC OFF AUTORCC OFF)
    target_link_libraries(${target} PRIVATE ${ARG_LINK})
    tenon_warnings(${target})
    tenon_optimize(${target} ${kind})
    target_precompile_headers(${target} PRIVATE ${TENON_STANDARD_HEADERS} ${ARG_HEADERS})
endfunction()

# tenon_precompile(target kind): the kind's headers for every C++ source of the target. Sources of C take no
# part, here or in being compiled together.
function(tenon_precompile target kind)
    tenon_optimize(${target} ${kind})
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.c$")
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    if(TARGET tenon_headers_${kind})
        target_precompile_headers(${target} REUSE_FROM tenon_headers_${kind})
        set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
endfunction()

# Tests run once per build, and commands read options and print: -O2 takes longer than it saves them. What
# they test and call is made with it.
function(tenon_optimize target kind)
    if(kind MATCHES "tests|commands")
        target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
    endif()
    if(kind STREQUAL tests)
        target_compile_definitions(${target} PRIVATE GTEST_HAS_PTHREAD=1) # as GTest::gtest has it
    endif()
endfunction()

# Small sources that include much are compiled several at once. Names in their anonymous namespaces then
# have to differ; folders whose sources share short names (`Case`, `layer`) are left apart.
option(TENON_UNITY "compile sources of app, views and tests, and of some folders of the compiler, several at once" ON)

# tenon_compile_together(target folder groups): the target's sources of a folder below this one, in that many
# groups. A source's name chooses its group, so that a new source changes no other group.
function(tenon_compile_together target folder groups)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${TENON_UNITY} UNITY_BUILD_MODE GROUP)
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
    string(MAKE_C_IDENTIFIER "${folder}" prefix)
    foreach(source ${sources})
        get_filename_component(name ${source} NAME)
        string(MD5 digits ${name})
        string(SUBSTRING ${digits} 0 6 digits)
        math(EXPR group "0x${digits} % ${groups}")
        set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${prefix}_${group})
    endforeach()
endfunction()
