/* SPDX-License-Identifier: MIT */
#include "cli/given.h"

#include "base/os.h"

#include <stdio.h>

struct journal_reader *given_journal(const char *given, struct text *path,
                                     struct assay_error *error)
{
    if (os_is_directory(given))
        os_path_join(path, given, "journal.jsonl");
    else
        text_add(path, given);
    struct journal_reader *reader = journal_read(text_string(path), error);
    if (reader) {
        struct text damage = {0};
        journal_add_damage(reader, "assay: warning: ", &damage);
        fputs(text_string(&damage), stderr);
        text_free(&damage);
    }
    return reader;
}
