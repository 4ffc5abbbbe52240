/* SPDX-License-Identifier: GPL-2.0-only */
/* The compiled programs, as bytes of this program: INSPECT_OBJECT is their file. */
	.section .rodata
	.balign 16
	.global inspect_object
	.type inspect_object, %object
inspect_object:
	.incbin INSPECT_OBJECT
	.global inspect_object_end
inspect_object_end:
	.byte 0
	.size inspect_object, inspect_object_end - inspect_object
	.section .note.GNU-stack, "", %progbits
