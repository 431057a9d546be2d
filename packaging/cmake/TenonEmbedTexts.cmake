# SPDX-License-Identifier: Apache-2.0
# Texts of other languages as constants of C++: kept as files that their own tools read.

# tenon_embed_texts(HEADER NAMESPACE NAME FILE [NAME FILE...]): generates HEADER, a path that sources include, with a
# std::string_view NAME for each FILE beside the calling CMakeLists.txt; the line with the licence is left out.
function(tenon_embed_texts header namespace)
    set(constants "")
    set(texts ${ARGN})
    while(texts)
        list(POP_FRONT texts name file)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
        file(READ ${file} text)
        string(REGEX REPLACE "^[^\n]*SPDX[^\n]*\n" "" text "${text}")
        string(APPEND constants "inline constexpr std::string_view ${name} = R\"text(${text})text\";\n")
    endwhile()
    set(EMBEDDED_NAMESPACE ${namespace})
    set(EMBEDDED_CONSTANTS "${constants}")
    configure_file(${CMAKE_SOURCE_DIR}/packaging/cmake/embedded_texts.h.in ${CMAKE_BINARY_DIR}/generated/${header} @ONLY)
endfunction()
