/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_TESTS_GOLDEN_H
#define KONTEND_TESTS_GOLDEN_H

/*
 * Compares @text with the file NAME.golden of the folder that GOLDEN_DIR in the environment names;
 * a difference fails the test. UPDATE=1 in the environment writes the file first.
 */
void golden_check(const char *text, const char *name);

#endif
