# SPDX-License-Identifier: Apache-2.0
# The RPC server for every processor of boards: static programs, made by cross compilers, in
# TENON_SERVER_DIR. `bin/../lib/tenon` is where programs look (core/base/program_files.h), in a build
# folder as in an installation.
set(TENON_SERVER_DIR ${CMAKE_BINARY_DIR}/lib/tenon/servers)

# Beside them, in TENON_FOOTPRINT_DIR, what `tenon footprint` compares: the smallest program that runs a
# model, and an empty one.
set(TENON_FOOTPRINT_DIR ${CMAKE_BINARY_DIR}/lib/tenon/footprint)

# The sources are plain C11 and want no configuration, so one compiler call makes a server.
get_target_property(objects tenon_runtime_objects SOURCES)
set(server_sources rpc/server.c ${objects} ${loader_sources} ${rpc_sources})
set(runner_sources footprint/runner.c footprint/counting.c ${objects} ${loader_sources})
set(empty_sources footprint/empty.c)
foreach(list server_sources runner_sources empty_sources)
    list(TRANSFORM ${list} PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
endforeach()
file(GLOB_RECURSE server_headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.h)
set(board_flags -std=gnu11 -D_FILE_OFFSET_BITS=64 -O2 -Wall -Wextra -Wconversion -static -pthread
    -ffunction-sections -fdata-sections -Wl,--gc-sections -Wl,-z,max-page-size=65536 -s)
set(wraps)
foreach(function malloc calloc realloc free aligned_alloc TVMBackendAllocWorkspace TVMBackendFreeWorkspace
        TVMModLoadFromFile tenon_aligned_alloc tenon_array_new tenon_aot_executor_new tenon_graph_executor_new
        tenon_graph_parse)
    list(APPEND wraps -Wl,--wrap=${function})
endforeach()

function(tenon_footprint_programs processor compiler)
    foreach(program runner empty)
        set(output ${TENON_FOOTPRINT_DIR}/${program}-${processor})
        set(flags ${board_flags} ${ARGN})
        if(program STREQUAL runner)
            list(APPEND flags ${wraps})
        endif()
        add_custom_command(OUTPUT ${output}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${TENON_FOOTPRINT_DIR}
            COMMAND ${compiler} ${flags} -o ${output} ${${program}_sources}
            DEPENDS ${${program}_sources} ${server_headers}
            COMMENT "Building the footprint's ${program} program for ${processor}"
            VERBATIM)
        set_property(GLOBAL APPEND PROPERTY TENON_BOARD_SERVERS ${output})
    endforeach()
endfunction()

# tenon_board_server(processor compiler flags...)
function(tenon_board_server processor compiler)
    set(output ${TENON_SERVER_DIR}/tenon-rpc-server-${processor})
    if(CMAKE_SYSTEM_PROCESSOR STREQUAL processor AND NOT TENON_SANITIZE)
        add_custom_command(OUTPUT ${output}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${TENON_SERVER_DIR}
            COMMAND ${CMAKE_STRIP} -o ${output} $<TARGET_FILE:tenon_rpc_server>
            DEPENDS tenon_rpc_server
            VERBATIM)
        set_property(GLOBAL APPEND PROPERTY TENON_BOARD_SERVERS ${output})
        tenon_footprint_programs(${processor} ${CMAKE_C_COMPILER} ${ARGN})
        return()
    endif()
    find_program(TENON_CC_${processor} ${compiler})
    if(NOT TENON_CC_${processor})
        message(NOTICE "no ${compiler}: the RPC server for ${processor} boards is not built")
        return()
    endif()
    add_custom_command(OUTPUT ${output}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${TENON_SERVER_DIR}
        COMMAND ${TENON_CC_${processor}} ${board_flags} ${ARGN} -o ${output} ${server_sources}
        DEPENDS ${server_sources} ${server_headers}
        COMMENT "Cross-building the RPC server for ${processor}"
        VERBATIM)
    set_property(GLOBAL APPEND PROPERTY TENON_BOARD_SERVERS ${output})
    tenon_footprint_programs(${processor} ${TENON_CC_${processor}} ${ARGN})
endfunction()

tenon_board_server(aarch64 aarch64-linux-gnu-gcc)
tenon_board_server(armv7 arm-linux-gnueabihf-gcc -march=armv7-a -mfpu=neon -mfloat-abi=hard)
tenon_board_server(riscv64 riscv64-linux-gnu-gcc)
tenon_board_server(x86_64 x86_64-linux-gnu-gcc)
get_property(servers GLOBAL PROPERTY TENON_BOARD_SERVERS)
add_custom_target(tenon_board_servers ALL DEPENDS ${servers})
