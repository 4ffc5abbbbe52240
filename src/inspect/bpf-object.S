/* SPDX-License-Identifier: GPL-2.0-only */
/* Compiled programs, or other files, as bytes of this program: OBJECT is their name, OBJECT_FILE their file. */
#define JOIN(a, b) a##b
#define NAMED(name, end) JOIN(name, end)

	.section .rodata
	.balign 16
	.global OBJECT
	.type OBJECT, %object
OBJECT:
	.incbin OBJECT_FILE
	.global NAMED(OBJECT, _end)
NAMED(OBJECT, _end):
	.byte 0
	.size OBJECT, NAMED(OBJECT, _end) - OBJECT
	.section .note.GNU-stack, "", %progbits
