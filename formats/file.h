/* SPDX-License-Identifier: Apache-2.0
 * Files: which type one is of. */
#ifndef CLF_FORMATS_FILE_H
#define CLF_FORMATS_FILE_H
#include "formats/fmt.h"
/** The type to use: `type` if given, else the ending of path ("npy" "csv" "mtx" "svm", any case). owns: static.
 *  errors: CLF_E_ARG unknown type, CLF_E_FORMAT unknown ending. */
clf_status clf_file_type(const char *path, const char *type, const char **out, clf_err *err);
#endif
