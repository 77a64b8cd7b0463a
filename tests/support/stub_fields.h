/* SPDX-License-Identifier: MIT */
/* What scripts/meta/assay.lua says of a class. */
#ifndef TESTS_STUB_FIELDS_H
#define TESTS_STUB_FIELDS_H

#include "base/error.h"
#include "base/os.h"
#include "base/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void read_stub(struct text *stub)
{
    struct assay_error error = {0};
    if (!os_file_read(SCRIPTS_DIR "/meta/assay.lua", 1 << 20, stub, &error))
        fail_msg("%s", error.text);
}

/* "a, b and c" of the ---@field lines of a class. */
static void fields_of(const char *stub, const char *class, struct text *list)
{
    static char words[64][32];
    const char *names[64];
    size_t count = 0;
    char start[64];
    snprintf(start, sizeof(start), "---@class %s\n", class);
    const char *line = strstr(stub, start);
    assert_non_null(line);
    for (line += strlen(start); strncmp(line, "---@field ", 10) == 0;
         line = strchr(line, '\n') + 1) {
        size_t length = strcspn(line + 10, " ?");
        if (line[10] == '[' && line[11] != '1') /* [1] is a field, [string] a kind of them */
            continue;
        assert_true(count < 64 && length < sizeof(words[0]));
        memcpy(words[count], line + 10, length);
        words[count][length] = '\0';
        names[count] = words[count];
        count++;
    }
    assert_true(count > 0);
    text_add_list(list, names, count);
}

#endif
