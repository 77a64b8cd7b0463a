/* SPDX-License-Identifier: MIT */
#include "result/journal_line.h"

#include "base/json.h"
#include "result/record_check.h"
#include "result/seal.h"

#include <string.h>

/* Behind the closing quote of a string whose opening quote is before `at`; NULL: it has none. */
static const char *string_end(const char *at)
{
    for (;; at++) {
        while ((unsigned char)*at >= 0x20 && *at != '"' && *at != '\\')
            at++;
        if (*at == '"')
            return at + 1;
        if (*at != '\\' || (unsigned char)*++at < 0x20)
            return NULL;
    }
}

/* Whether the line can be one whole JSON object: brackets close at its very end, which is a NUL.
 * Much cheaper than parsing; it finds cut records and records glued together. */
static bool is_whole(const char *line, size_t length)
{
    static const bool plain[256] = {
        [','] = true, [':'] = true, ['.'] = true, ['-'] = true, ['0'] = true,
        ['1'] = true, ['2'] = true, ['3'] = true, ['4'] = true, ['5'] = true,
        ['6'] = true, ['7'] = true, ['8'] = true, ['9'] = true};
    size_t depth = 0;
    for (const char *at = line; at;) {
        while (plain[(unsigned char)*at])
            at++;
        unsigned char c = (unsigned char)*at++;
        if (c < 0x20)
            return false;
        if (c == '"')
            at = string_end(at);
        else if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && (depth == 0 || --depth == 0))
            return at == line + length;
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
