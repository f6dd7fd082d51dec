/* SPDX-License-Identifier: Apache-2.0
 * Files: whole reads, and writes that appear whole or not at all (temporary in the same folder,
 * then rename). Functions return 0 or an errno value.
 */
#ifndef TWI_BASE_FS_H
#define TWI_BASE_FS_H

#include "base/arena.h"

int twi_read_file(twi_arena *a, const char *path, char **text,
                  size_t *n); /* NUL added; "-": stdin */
int twi_write_file(const char *path, const void *data, size_t n);
int twi_make_dir(const char *path); /* with parents, 0700; existing is fine */
/* A temporary folder of our own: goes with all that is in it. What others still write there is
 * waited for, up to two seconds. */
void twi_remove_tree(const char *path);
bool twi_same_file(const char *a, const char *b); /* same inode, or the same path if absent */

#endif
