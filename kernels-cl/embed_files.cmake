# SPDX-License-Identifier: Apache-2.0
# Script: writes OUT, a C file with the bytes of FILES (semicolon list, relative to ROOT) and the table clf_embedded_files.
set(text "/* Generated from the kernel texts; do not edit. */\n#include \"kernels-cl/embedded.h\"\n")
set(table "")
set(k 0)
foreach(file ${FILES})
    file(READ ${ROOT}/${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND text "static const unsigned char file${k}[] = {${bytes}0};\n")
    string(APPEND table "    {\"${file}\", file${k}, sizeof file${k} - 1},\n")
    math(EXPR k "${k} + 1")
endforeach()
file(WRITE ${OUT} "${text}const clf_embedded clf_embedded_files[] = {\n${table}    {NULL, NULL, 0},\n};\n")
