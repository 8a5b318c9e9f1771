# SPDX-License-Identifier: Apache-2.0
# cmake --install: library, public headers, tool, pkg-config file, documents.
if(NOT TARGET clfuse)
    return()
endif()
configure_file(cmake/clfuse.pc.in ${PROJECT_BINARY_DIR}/clfuse.pc @ONLY)
install(TARGETS clfuse LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY core/include/clfuse host/include/clfuse ${CLF_GEN_INCLUDE}/clfuse
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/clfuse.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET clfuse_tool)
    install(TARGETS clfuse_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET clfuse-bench)
    install(TARGETS clfuse-bench RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/clfuse)
endif()
