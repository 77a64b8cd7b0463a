/* SPDX-License-Identifier: MIT */
#include "result/journal_line.h"

#include "base/json.h"
#include "result/record_check.h"
#include "result/seal.h"

#include <string.h>

/* Whether the line can be one whole JSON object: brackets close at its very end. Much cheaper than
 * parsing; it finds cut records and records glued together. */
static bool is_whole(const char *line, size_t length)
{
    long depth = 0;
    for (size_t i = 0; i < length; i++) {
        char c = line[i];
        if (c == '"') {
            for (i++; i < length && line[i] != '"'; i++) {
                if ((unsigned char)line[i] < 0x20)
                    return false;
                i += line[i] == '\\';
            }
        } else if ((unsigned char)c < 0x20) {
            return false;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return i + 1 == length;
        }
    }
    return false;
}

/* A record without a seal is looked at closely: somebody else wrote it. */
static const char *inspect(const char *line, size_t length)
{
    if (!is_whole(line, length))
        return "it is not a whole record";
    if (strncmp(line, "{\"kind\":\"verdict\"", 17) == 0)
        return NULL;
    json_t *record = json_read(line, length, "record", NULL);
    const char *kind = json_text(record, "kind", ""), *wrong = record ? NULL : "it is not JSON";
    if (strcmp(kind, "case") == 0 || strcmp(kind, "samples") == 0)
        wrong = record_check(record);
    json_decref(record);
    return wrong;
}

const char *journal_line_fault(const char *line, size_t length, const struct journal_seal *run)
{
    uint64_t seal;
    bool fits = false;
    if (!run || strncmp(line, "{\"kind\":\"run\"", 13) == 0)
        return inspect(line, length);
    if (seal_check(line, length, run->seal, &seal, &fits))
        return run->sealed && fits ? NULL
                                   : "it was changed after it was written, or is of another run";
    if (!run->sealed || !seal_wanted(line, length))
        return inspect(line, length);
    return is_whole(line, length) ? "it has no seal: assay did not write it"
                                  : "it is not a whole record";
}
