/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KONTEND_NEWFILE_H
#define KONTEND_NEWFILE_H

#include <stdbool.h>

/*
 * A file that takes the place of another one when it is complete. It has no name until then, so
 * that nothing is left of it whatever ends the program. Where the file system has no such files it
 * has a temporary name. The folder is opened once: links on the way to it that change later lead
 * nowhere else. Another process that has the same descriptors may name it.
 */
struct newfile {
	int dir, fd;	       /* -1: none */
	char *temp;	       /* the path of its temporary name */
	const char *temp_name; /* within `temp`: in the folder */
	char *name;	       /* the name that it is for, in the folder */
	bool has_name;	       /* the temporary one */
};

/* For @path, mode 600. 0 or -errno. The descriptor f->fd stays the caller's. */
int newfile_open(struct newfile *f, const char *path);
/* The same of plain @name in the folder @dir, which stays the caller's. */
int newfile_open_in(struct newfile *f, int dir, const char *name);
/* Has another file the name that it is for? */
bool newfile_is_taken(const struct newfile *f);
/* Gives it its temporary name, if it has none yet. 0 or -errno. */
int newfile_name(struct newfile *f);
/* The file gets its name; what had it is gone. 0 or -errno: then it has no name. */
int newfile_put(struct newfile *f);
/* The same where nothing has the name: else -EEXIST, and what has it stays. */
int newfile_put_new(struct newfile *f);
/* Removes the temporary name. 0 or -errno. */
int newfile_drop(struct newfile *f);
void newfile_deinit(struct newfile *f); /* {0} is none */

/*
 * Opens the folder that @path is in as O_PATH; *ret_name is the rest of @path. -errno, or -EISDIR
 * where that is no plain name.
 */
int newfile_folder(const char *path, const char **ret_name);
/* May a file be called this: not empty, no '/', and neither "." nor ".."? */
bool newfile_is_plain(const char *name);

#endif
