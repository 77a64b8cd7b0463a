/* SPDX-License-Identifier: MIT */
#include "judge/outside.h"

#include "base/json.h"

void outside_add_place(struct text *text, const struct plan *plan, const struct plan_case *item,
                       const json_t *device)
{
    const char *name = json_text(device, "label", json_text(device, "name", NULL));
    struct text label = {0};
    plan_case_label(plan, item, true, &label);
    if (label.length || name)
        text_addf(text, " (%s%s", text_string(&label), label.length && name ? ", " : "");
    if (name)
        text_add_clean(text, name);
    if (label.length || name)
        text_add_char(text, ')');
    text_free(&label);
}
