# SPDX-License-Identifier: Apache-2.0
# What an installation holds, in two parts that are Debian packages and archives, too: `cli` the command
# line, the servers of boards and what embedders need (no Qt), `workbench` the window. Programs find their
# files from where they lie themselves (core/base/program_files.h): the tree may be moved as a whole.
include(GNUInstallDirs)
if(CMAKE_LIBRARY_ARCHITECTURE) # as Debian has it, under every prefix
    set(CMAKE_INSTALL_LIBDIR lib/${CMAKE_LIBRARY_ARCHITECTURE})
endif()
include(CMakePackageConfigHelpers)

set(TENON_RELEASE_DATE 2026-11-23)
set(TENON_PACKAGING ${CMAKE_BINARY_DIR}/packaging)

# The build folder looks like an installation: its shared files are the source tree's.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/share/tenon)
foreach(entry boards sample)
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/resources/${entry} ${CMAKE_BINARY_DIR}/share/tenon/${entry} SYMBOLIC)
endforeach()
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/runtime ${CMAKE_BINARY_DIR}/share/tenon/runtime SYMBOLIC)

# tenon_install(component destination file...): files that are the same on every computer.
function(tenon_install component destination)
    install(FILES ${ARGN} DESTINATION ${destination} COMPONENT ${component})
endfunction()

# tenon_install_compressed(component destination file name): `file` with the version put in, as NAME.gz.
function(tenon_install_compressed component destination file name)
    set(text ${TENON_PACKAGING}/${component}/${name})
    configure_file(${file} ${text} @ONLY)
    execute_process(COMMAND gzip -9nkf ${text} COMMAND_ERROR_IS_FATAL ANY)
    tenon_install(${component} ${destination} ${text}.gz)
endfunction()

# tenon_install_documents(component package): what Debian asks of every package.
function(tenon_install_documents component package)
    set(documents ${CMAKE_INSTALL_DATADIR}/doc/${package})
    tenon_install(${component} ${documents} packaging/debian/copyright)
    tenon_install_compressed(${component} ${documents} packaging/debian/changelog changelog)
    install(FILES packaging/debian/${package}.lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides
        RENAME ${package} COMPONENT ${component})
endfunction()

# The command line and the servers of boards.
install(TARGETS tenon tenon_rpc_server RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT cli)
get_property(board_programs GLOBAL PROPERTY TENON_BOARD_SERVERS)
foreach(program ${board_programs})
    cmake_path(GET program PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    install(PROGRAMS ${program} DESTINATION lib/tenon/${folder} COMPONENT cli)
endforeach()
set(shared ${CMAKE_INSTALL_DATADIR}/tenon)
install(DIRECTORY resources/boards resources/sample DESTINATION ${shared} COMPONENT cli USE_SOURCE_PERMISSIONS)
install(DIRECTORY runtime DESTINATION ${shared} COMPONENT cli
    FILES_MATCHING PATTERN "*.c" PATTERN "*.h" PATTERN "*.hpp" PATTERN "*.ld" PATTERN "*.py" PATTERN "Makefile" PATTERN "README.md")
install(DIRECTORY resources/manual resources/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tenon COMPONENT cli)
tenon_install_compressed(cli ${CMAKE_INSTALL_MANDIR}/man1 packaging/man/tenon.1 tenon.1)
tenon_install_compressed(cli ${CMAKE_INSTALL_MANDIR}/man1 packaging/man/tenon-rpc-server.1 tenon-rpc-server.1)
tenon_install_documents(cli tenon)

# Completion as the program itself gives it.
set(completion ${TENON_PACKAGING}/completion)
add_custom_command(OUTPUT ${completion}/tenon ${completion}/_tenon ${completion}/tenon.fish
    COMMAND ${CMAKE_COMMAND} -E make_directory ${completion}
    COMMAND tenon completion bash > ${completion}/tenon
    COMMAND tenon completion zsh > ${completion}/_tenon
    COMMAND tenon completion fish > ${completion}/tenon.fish
    DEPENDS tenon
    VERBATIM)
add_custom_target(tenon_completion ALL DEPENDS ${completion}/tenon)
tenon_install(cli ${CMAKE_INSTALL_DATADIR}/bash-completion/completions ${completion}/tenon)
tenon_install(cli ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions ${completion}/_tenon)
tenon_install(cli ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d ${completion}/tenon.fish)

# For embedders: the runtime as a library, its headers, and how CMake and pkg-config find them.
install(TARGETS tenon_runtime EXPORT tenon LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cli)
install(DIRECTORY runtime/include/tenon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cli)
set(cmake_files ${CMAKE_INSTALL_LIBDIR}/cmake/tenon)
install(EXPORT tenon NAMESPACE tenon:: DESTINATION ${cmake_files} FILE tenon-targets.cmake COMPONENT cli)
configure_package_config_file(packaging/cmake/tenon-config.cmake.in ${TENON_PACKAGING}/tenon-config.cmake
    INSTALL_DESTINATION ${cmake_files})
write_basic_package_version_file(${TENON_PACKAGING}/tenon-config-version.cmake COMPATIBILITY SameMinorVersion)
tenon_install(cli ${cmake_files} ${TENON_PACKAGING}/tenon-config.cmake ${TENON_PACKAGING}/tenon-config-version.cmake)
string(REGEX REPLACE "[^/]+" ".." TENON_PREFIX ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
configure_file(packaging/cmake/tenon.pc.in ${TENON_PACKAGING}/tenon.pc @ONLY)
tenon_install(cli ${CMAKE_INSTALL_LIBDIR}/pkgconfig ${TENON_PACKAGING}/tenon.pc)

# The window.
if(TENON_WORKBENCH)
    install(TARGETS tenon-workbench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT workbench)
    set(id org.tenon.workbench)
    tenon_install(workbench ${CMAKE_INSTALL_DATADIR}/applications packaging/desktop/${id}.desktop)
    install(FILES resources/icons/tenon.svg DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps
        RENAME ${id}.svg COMPONENT workbench)
    install(FILES packaging/desktop/${id}.mime.xml DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages
        RENAME ${id}.xml COMPONENT workbench)
    configure_file(packaging/desktop/${id}.metainfo.xml ${TENON_PACKAGING}/${id}.metainfo.xml @ONLY)
    tenon_install(workbench ${CMAKE_INSTALL_DATADIR}/metainfo ${TENON_PACKAGING}/${id}.metainfo.xml)
    tenon_install_compressed(workbench ${CMAKE_INSTALL_MANDIR}/man1 packaging/man/tenon-workbench.1 tenon-workbench.1)
    tenon_install_documents(workbench tenon-workbench)
endif()

include(TenonPackages)
