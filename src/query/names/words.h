/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_SRC_QUERY_WORDS_H
#define KONTEND_SRC_QUERY_WORDS_H

struct query;

/* In a sentence: "task 5216" of "-/5216", whose name is not known; any other as it is. */
const char *query_in_words(struct query *q, const char *name);

#endif
