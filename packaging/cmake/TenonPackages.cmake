# SPDX-License-Identifier: Apache-2.0
# `cpack` in the build folder writes two Debian packages and an archive that runs wherever it is unpacked.
set(CPACK_GENERATOR DEB TXZ)
set(CPACK_PACKAGE_NAME tenon)
set(CPACK_PACKAGE_VENDOR "The Tenon authors")
set(CPACK_PACKAGE_CONTACT "The Tenon authors <tenon@localhost>")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL cli)
if(TENON_WORKBENCH)
    list(APPEND CPACK_COMPONENTS_ALL workbench)
endif()
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

set(CPACK_DEBIAN_CLI_PACKAGE_NAME tenon)
set(CPACK_DEBIAN_CLI_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_CLI_PACKAGE_SUGGESTS "qemu-user-static, openssh-client, openssh-server, nodejs, gcc-arm-none-eabi, qemu-system-arm")
set(CPACK_DEBIAN_CLI_DESCRIPTION "compiler and deployment tool for machine learning models
Tenon compiles ONNX models for computers, for boards that run Linux, for
microcontrollers and for WebAssembly, plans their memory, sends them to
boards over SSH or RPC and times each of their layers there.

This package has the command line, the servers that run on boards, and the
runtime library with its headers.")
# The library that embedders link lies in the folder of shared libraries.
set(CPACK_DEBIAN_CLI_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/debian/triggers)

set(CPACK_DEBIAN_WORKBENCH_PACKAGE_NAME tenon-workbench)
set(CPACK_DEBIAN_WORKBENCH_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_WORKBENCH_PACKAGE_DEPENDS "tenon (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_WORKBENCH_DESCRIPTION "window to inspect, compile and deploy machine learning models
Tenon opens an ONNX model, shows what each pass of its compiler makes of it,
where each byte of memory lies, how the graph and the ahead-of-time executors
compare, and what each layer takes on a board.")
include(CPack)
