# SPDX-License-Identifier: Apache-2.0
# cmake --install: headers, both libraries, a pkg-config file, a CMake package (tilewright::tilewright).
include(CMakePackageConfigHelpers)
install(DIRECTORY include/tilewright DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(TARGETS tilewright_static tilewright_shared EXPORT tilewright
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/tilewright)
install(EXPORT tilewright NAMESPACE tilewright:: FILE tilewright-targets.cmake DESTINATION ${package})
configure_package_config_file(cmake/tilewright-config.cmake.in tilewright-config.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(tilewright-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tilewright-config.cmake
  ${PROJECT_BINARY_DIR}/tilewright-config-version.cmake DESTINATION ${package})

file(RELATIVE_PATH TW_PC_PREFIX "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" TW_PC_PREFIX "${TW_PC_PREFIX}")
list(TRANSFORM TW_STORE_LIBS PREPEND "-l" OUTPUT_VARIABLE TW_PC_STORE)
list(JOIN TW_PC_STORE " " TW_PC_STORE)
configure_file(cmake/tilewright.pc.in tilewright.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tilewright.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
