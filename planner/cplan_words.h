/* SPDX-License-Identifier: Apache-2.0
 * The words of the cplan's text form, shared by its printer and its parser. Indexed by the enum each table names. */
#ifndef CLF_PLANNER_CPLAN_WORDS_H
#define CLF_PLANNER_CPLAN_WORDS_H
static const char *const clf_axis_words[] = {"range", "entry", "seg", "dict", 0};                                  /* clf_axis_kind */
static const char *const clf_order_words[] = {"free", "ascending", 0};                                             /* clf_axis.ascending */
static const char *const clf_protocol_words[] = {"stream", "entries", "locate", "cursor", "dictionary", 0};        /* clf_protocol */
static const char *const clf_format_words[] = {"dense", "csr", "csc", "coo", "compressed", 0};                     /* clf_format */
static const char *const clf_sink_words[] = {"store", "fold", "pattern", "append", "scatter", "group", "dot", 0};  /* clf_sink_kind */
static const char *const clf_form_words[] = {"load", "param", "index", "fold", "scan", "cast", "dot", "cat", 0};   /* op - CLF_V_LOAD */
#endif
