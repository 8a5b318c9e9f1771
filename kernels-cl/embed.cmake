# SPDX-License-Identifier: Apache-2.0
# Kernel texts into byte arrays: skel/*.cl and prelude/*.clh become one generated C file, named in CLF_EMBED_SOURCES.
file(GLOB texts CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} skel/*.cl prelude/*.clh)
set(embedded ${CMAKE_CURRENT_BINARY_DIR}/embedded.c)
set(inputs ${texts})
list(TRANSFORM inputs PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
add_custom_command(OUTPUT ${embedded}
    COMMAND ${CMAKE_COMMAND} "-DROOT=${CMAKE_CURRENT_SOURCE_DIR}" "-DFILES=${texts}" "-DOUT=${embedded}"
            -P ${CMAKE_CURRENT_SOURCE_DIR}/embed_files.cmake
    DEPENDS ${inputs} ${CMAKE_CURRENT_SOURCE_DIR}/embed_files.cmake VERBATIM)
list(APPEND CLF_EMBED_SOURCES ${embedded})
