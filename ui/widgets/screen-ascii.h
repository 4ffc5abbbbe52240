/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_UI_WIDGETS_SCREEN_ASCII_H
#define KONTEND_UI_WIDGETS_SCREEN_ASCII_H

#include <stdint.h>

/* The ASCII character that looks most like @ch: itself below 0x80, '?' for what has no look. */
uint32_t screen_ascii(uint32_t ch);

#endif
