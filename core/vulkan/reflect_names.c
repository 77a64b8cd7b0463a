/* SPDX-License-Identifier: MIT */
/* Which binding a name means. */
#include "vulkan/reflect.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_INSTANCE, NAME_BLOCK, NAME_MEMBER, NAME_RANKS };

static const char *name_of(const struct reflect_binding *binding, int rank)
{
    const char *const names[NAME_RANKS] = {binding->instance, binding->block, binding->member};
    return names[rank];
}

/* "3" or "[3]" -> 3; -1 for anything else. */
static int64_t number_of(const char *name)
{
    bool bracket = name[0] == '[';
    const char *at = name + bracket;
    int64_t number = 0;
    if (*at < '0' || *at > '9')
        return -1;
    for (; *at >= '0' && *at <= '9'; at++) {
        number = number * 10 + (*at - '0');
        if (number > UINT32_MAX)
            return -1;
    }
    return strcmp(at, bracket ? "]" : "") == 0 ? number : -1;
}

static void add_place(struct text *text, const struct reflect_binding *binding)
{
    text_addf(text, "set %u, binding %u", binding->set, binding->binding);
}

static void fail_ambiguous(const struct reflection *reflection, const char *name, int first,
                           int second, struct assay_error *error)
{
    struct text text = {0};
    text_addf(&text, "binding '%s' is ambiguous: ", name);
    const int indices[2] = {first, second};
    for (int i = 0; i < 2; i++) {
        const struct reflect_binding *binding = &reflection->bindings[indices[i]];
        text_add(&text, i > 0 ? " and " : "");
        if (binding->block != NULL)
            text_addf(&text, "block '%s' ", binding->block);
        text_add(&text, "(");
        add_place(&text, binding);
        text_add(&text, ")");
    }
    text_add(&text, " both match; give the instances different names");
    assay_fail(error, ASSAY_INVALID, "%s", text_string(&text));
    text_free(&text);
}

void reflect_binding_add(struct text *text, const struct reflect_binding *binding)
{
    for (int rank = 0; rank < NAME_RANKS; rank++) {
        if (name_of(binding, rank) == NULL)
            continue;
        text_add(text, name_of(binding, rank));
        return;
    }
    text_addf(text, "[%u]", binding->binding);
}

/* "there is no WHAT 'NAME'; did you mean 'NEAR'? There is A, B and C". `all` are the names it could
 * have been, `shown` those that are listed. */
static void fail_unknown(const char *what, const char *name, const char *const *all, size_t count,
                         const struct text *shown, struct assay_error *error)
{
    struct text text = {0};
    const char *nearest = count > 0 ? text_nearest(name, all, count) : NULL;
    text_addf(&text, "there is no %s '%s'", what, name);
    if (nearest != NULL)
        text_addf(&text, "; did you mean '%s'? There is %s", nearest, text_string(shown));
    else if (shown->length > 0)
        text_addf(&text, "; there is %s", text_string(shown));
    else
        text_addf(&text, "; the kernel has no %s", what);
    assay_fail(error, ASSAY_INVALID, "%s", text_string(&text));
    text_free(&text);
}

static void add_separator(struct text *text, size_t i, size_t count)
{
    if (i > 0)
        text_add(text, i + 1 < count ? ", " : " and ");
}

static void fail_binding(const struct reflection *reflection, const char *name,
                         struct assay_error *error)
{
    struct text shown = {0};
    size_t count = 0;
    const char **all = malloc((reflection->binding_count * NAME_RANKS + 1) * sizeof(*all));
    for (size_t i = 0; i < reflection->binding_count; i++) {
        add_separator(&shown, i, reflection->binding_count);
        reflect_binding_add(&shown, &reflection->bindings[i]);
        for (int rank = 0; all != NULL && rank < NAME_RANKS; rank++)
            if (name_of(&reflection->bindings[i], rank) != NULL)
                all[count++] = name_of(&reflection->bindings[i], rank);
    }
    fail_unknown("binding", name, all, count, &shown, error);
    free((void *)all);
    text_free(&shown);
}

int reflect_find_constant(const struct reflection *reflection, const char *name,
                          struct assay_error *error)
{
    struct text shown = {0};
    size_t count = 0;
    int64_t number = name != NULL ? number_of(name) : -1;
    for (size_t i = 0; i < reflection->constant_count; i++) {
        const struct reflect_constant *constant = &reflection->constants[i];
        if ((constant->name != NULL && name != NULL && strcmp(constant->name, name) == 0) ||
            number == constant->id)
            return (int)i;
    }
    const char **all = malloc((reflection->constant_count + 1) * sizeof(*all));
    for (size_t i = 0; i < reflection->constant_count; i++) {
        const struct reflect_constant *constant = &reflection->constants[i];
        add_separator(&shown, i, reflection->constant_count);
        if (constant->name != NULL)
            text_add(&shown, constant->name);
        else
            text_addf(&shown, "[%u]", constant->id);
        if (all != NULL && constant->name != NULL)
            all[count++] = constant->name;
    }
    fail_unknown("specialisation constant", name != NULL ? name : "", all, count, &shown, error);
    free((void *)all);
    text_free(&shown);
    return -1;
}

int reflect_find_binding(const struct reflection *reflection, const char *name,
                         struct assay_error *error)
{
    if (name == NULL || name[0] == '\0') {
        assay_fail(error, ASSAY_INVALID, "a binding needs a name");
        return -1;
    }
    for (int rank = 0; rank < NAME_RANKS; rank++) {
        int found = -1;
        for (size_t i = 0; i < reflection->binding_count; i++) {
            const char *own = name_of(&reflection->bindings[i], rank);
            if (own == NULL || strcmp(own, name) != 0)
                continue;
            if (found >= 0) {
                fail_ambiguous(reflection, name, found, (int)i, error);
                return -1;
            }
            found = (int)i;
        }
        if (found >= 0)
            return found;
    }
    int64_t number = number_of(name);
    for (size_t i = 0; number >= 0 && i < reflection->binding_count; i++)
        if (reflection->bindings[i].set == 0 && reflection->bindings[i].binding == number)
            return (int)i;
    fail_binding(reflection, name, error);
    return -1;
}
