/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_NOTES_H
#define KONTEND_NOTES_H

#include <stddef.h>
#include <stdint.h>

struct record;

/* The subject of a note. Stored in files: numbers are never reused. */
enum note_kind {
	NOTE_OTHER,   /* also of files whose notes have no kind */
	NOTE_DAMAGE,  /* a part of the recording is missing or cannot be read */
	NOTE_UNKNOWN, /* a part is of a kind that this version does not know */
	NOTE_NAMES,   /* names of functions are missing */
	NOTE_KINDS,
};

#define NOTE_NOWHERE UINT64_MAX

/* In a RECORD_NOTE, after the text and a NUL: readers that do not know it see the text alone. */
struct record_note {
	uint64_t offset; /* in the file; NOTE_NOWHERE: not known */
	uint64_t bad;	 /* records that are missing or cannot be read, at least */
	uint32_t kind, reserved;
};

enum { NOTE_TEXT = 600, NOTES_MOST = 64 };

struct note {
	enum note_kind kind;
	uint64_t offset;      /* of the first one; NOTE_NOWHERE: not known */
	uint64_t count;	      /* how often it came */
	char text[NOTE_TEXT]; /* untrusted */
};

/* Notes about one recording: at most NOTES_MOST, damage first, else in the order they came. */
struct notes {
	struct note *items;
	size_t n, cap;
	size_t n_damage;   /* the first ones are of this kind */
	uint64_t left_out; /* others for which there was no room */
	uint64_t bad;	   /* sum of record_note.bad */
};

/* Takes a RECORD_NOTE. 0 or -ENOMEM. */
int notes_take(struct notes *n, const struct record *r);
void notes_deinit(struct notes *n);
const char *notes_kind(enum note_kind k); /* "damage" */

#endif
