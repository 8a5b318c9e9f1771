/* SPDX-License-Identifier: Apache-2.0
 * What a process and its compile workers say to each other, as bytes. A message is a head of fixed size, which names the format's version
 * and how much follows, and a body of one layout for all kinds: an id, a status, three texts, kernels. Reading trusts nothing: lengths are
 * held against what is there before anything is looked at, and every text ends with a NUL that its length does not count.
 *
 *     process -> worker   HELLO  text: device, its driver, cache directory; status: CLF_MSG_BUFFERS or 0
 *     worker -> process   READY  status; text: why not
 *     process -> worker   BUILD  id; text: build options, program; kernels
 *     worker -> process   BUILT  id; status; ns: time it took; text: why not, binary */
#ifndef CLF_DEVICE_MESSAGE_H
#define CLF_DEVICE_MESSAGE_H
#include "core/err.h"
#include "core/str.h"
#include "device/source.h"

enum { CLF_MSG_VERSION = 1, CLF_MSG_HEAD = 16, CLF_MSG_TEXTS = 3, CLF_MSG_BUFFERS = 1 };
enum { CLF_MSG_BODY_MOST = 1 << 28, CLF_MSG_KERNELS_MOST = 256, CLF_MSG_ARGS_MOST = 1024 };
typedef enum clf_msg_kind { CLF_MSG_HELLO = 1, CLF_MSG_READY, CLF_MSG_BUILD, CLF_MSG_BUILT, CLF_MSG_KINDS } clf_msg_kind;

typedef struct clf_msg_text { const char *at; size_t len; } clf_msg_text;
typedef struct clf_msg_kernel {
    const char *entry;
    int nargs;
    const char *args; /* nargs encoded clf_arg_desc; see clf_msg_args */
} clf_msg_kernel;
/* Texts point into the bytes that were read, or at what the writer has. */
typedef struct clf_msg {
    uint32_t kind, status;
    uint64_t id, ns;
    clf_msg_text text[CLF_MSG_TEXTS];
    uint32_t nkernels;
    const char *kernels; /* encoded */
} clf_msg;

/** Append m to out; src: the n kernels of a BUILD, which m->kernels does not name. out->failed: out of memory. errors: CLF_E_LIMIT. */
clf_status clf_msg_put(clf_str *out, const clf_msg *m, const clf_source *const *src, int n, clf_err *err);
/** How many bytes follow this head. errors: CLF_E_FORMAT: no head of this version. */
clf_status clf_msg_head(const void *head, size_t *body_bytes, clf_err *err);
/** Read a whole message. owns: out points into bytes. errors: CLF_E_FORMAT. */
clf_status clf_msg_get(clf_msg *out, const void *bytes, size_t n, clf_err *err);
/** The next kernel of a message that was read; *at starts as m->kernels. */
void clf_msg_next(const char **at, clf_msg_kernel *out);
void clf_msg_args(const clf_msg_kernel *k, clf_arg_desc *out);
#endif
