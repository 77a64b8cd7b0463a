/* SPDX-License-Identifier: MIT */
/* The tables of 'assay tune'. */
#include "base/json.h"
#include "cli/tune_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Names of four characters, which are five bytes and four: their columns are the same. */
static void columns_are_characters(void **state)
{
    (void)state;
    static const char source[] = "{\"choice\":\"caf\xC3\xA9\",\"what\":\"x\",\"spent_ns\":3000000,"
                                 "\"candidates\":[{\"name\":\"caf\xC3\xA9\",\"time_ns\":1000000,"
                                 "\"verdict\":\"right\"},{\"name\":\"none\",\"time_ns\":2000000,"
                                 "\"verdict\":\"right\"}]}";
    struct assay_error error = {0};
    struct text out = {0};
    json_t *tuning = json_read(source, strlen(source), "tuning", &error);
    assert_non_null(tuning);
    tune_add_candidates("head", tuning, &out);
    assert_string_equal(text_string(&out), "head: x\n\n"
                                           "    candidate  time  rate  result\n"
                                           " *  caf\xC3\xA9       1 ms        right\n"
                                           "    none       2 ms        right\n\n"
                                           "2 candidates in 3 ms; 'caf\xC3\xA9' is chosen from "
                                           "now on\n");
    text_free(&out);
    json_decref(tuning);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(columns_are_characters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
