# SPDX-License-Identifier: Apache-2.0
# Manual pages, where scdoc is installed: the tool's is written by hand, those of settings and operators come from their tables, those of
# functions from the public header, with a page for each function that names its group's.
find_program(CLF_SCDOC scdoc)
mark_as_advanced(CLF_SCDOC)
if(NOT CLF_SCDOC)
    return()
endif()
add_executable(clf_gen_man core/gen_man.c)
target_include_directories(clf_gen_man PRIVATE ${PROJECT_SOURCE_DIR})
set(CLF_MAN ${PROJECT_BINARY_DIR}/man)
add_custom_command(OUTPUT ${CLF_MAN}/done
    COMMAND sh ${PROJECT_SOURCE_DIR}/docs/man/make.sh ${CLF_SCDOC} $<TARGET_FILE:clf_gen_man> ${PROJECT_SOURCE_DIR} ${CLF_MAN}
    DEPENDS clf_gen_man docs/man/make.sh docs/man/api.awk docs/man/clfuse.1.scd host/include/clfuse/clfuse.h VERBATIM)
add_custom_target(clf_man ALL DEPENDS ${CLF_MAN}/done)
install(DIRECTORY ${CLF_MAN}/man1 ${CLF_MAN}/man3 ${CLF_MAN}/man7 DESTINATION ${CMAKE_INSTALL_MANDIR})
