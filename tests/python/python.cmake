# SPDX-License-Identifier: Apache-2.0
# The Python binding, by an interpreter that has NumPy and SciPy: the system's own first. Without one there is no such test, and the
# configuration says so. A sanitizer's runtime does not go into a process that was built without.
if(CLF_SANITIZE OR NOT TARGET clfuse)
    return()
endif()
foreach(candidate /usr/bin/python3 python3)
    execute_process(COMMAND ${candidate} -c "import numpy, scipy.sparse" RESULT_VARIABLE lacks OUTPUT_QUIET ERROR_QUIET)
    if(lacks EQUAL 0)
        add_test(NAME python.clfuse COMMAND ${candidate} ${CMAKE_CURRENT_LIST_DIR}/test_clfuse.py)
        clf_test_defaults(python.clfuse python 120 CLFUSE_LIBRARY=$<TARGET_FILE:clfuse> PYTHONDONTWRITEBYTECODE=1)
        return()
    endif()
endforeach()
message(STATUS "tests/python: left out, no Python interpreter has NumPy and SciPy")
