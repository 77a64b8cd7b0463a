/* SPDX-License-Identifier: MIT */
#include "vulkan/selector.h"

#include "base/json.h"
#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define ADVICE "choose one by index, UUID or PCI address"

/* One line a device: "  0  NAME (class, driver, uuid ..., pci ...)". */
static void add_device(struct text *out, const json_t *device, size_t index)
{
    const char *driver = json_text(json_object_get(device, "driver"), "name", "");
    const char *pci = json_text(device, "pci", NULL);
    const char *unusable = json_text(device, "unusable", NULL);
    text_addf(out, "\n  %zu  %s (%s", index, json_text(device, "name", "?"),
              json_text(device, "class", "other"));
    if (driver[0])
        text_addf(out, ", %s", driver);
    text_addf(out, ", uuid %s", json_text(device, "uuid", "?"));
    if (pci)
        text_addf(out, ", pci %s", pci);
    text_add_char(out, ')');
    if (unusable)
        text_addf(out, ", cannot be used: %s", unusable);
}

/* Which devices a selector fits: one flag for each of the inventory. */
struct choice {
    const json_t *inventory;
    size_t count;
    bool *fits;
};

static const json_t *device_at(const struct choice *choice, size_t index)
{
    return json_array_get(choice->inventory, index);
}

static size_t fitting(const struct choice *choice)
{
    size_t n = 0;
    for (size_t i = 0; i < choice->count; i++)
        n += choice->fits[i];
    return n;
}

static void add_list(struct text *out, const struct choice *choice)
{
    for (size_t i = 0; i < choice->count; i++)
        add_device(out, device_at(choice, i), i);
}

static void add_indices(struct text *out, const struct choice *choice, bool all)
{
    size_t left = all ? choice->count : fitting(choice);
    for (size_t i = 0; i < choice->count; i++) {
        if (!all && !choice->fits[i])
            continue;
        left--;
        text_addf(out, "%zu%s", i, left == 0 ? "" : left == 1 ? " and " : ", ");
    }
}

/* Fails with the text and the list of devices behind it. */
static bool refuse(const struct choice *choice, struct text *text, struct assay_error *error)
{
    text_add_char(text, ':');
    add_list(text, choice);
    assay_fail(error, ASSAY_NO_DEVICE, "%s", text_string(text));
    text_free(text);
    return false;
}

static bool take(const struct choice *choice, const char *selector, size_t *index,
                 struct assay_error *error)
{
    if (fitting(choice) > 1) {
        struct text text = {0};
        text_add(&text, selector ? "device '" : "the best class has ");
        if (selector) {
            text_add_clean(&text, selector);
            text_add(&text, "' fits ");
        }
        text_addf(&text, "%zu devices, ", fitting(choice));
        add_indices(&text, choice, false);
        text_add(&text, "; " ADVICE);
        return refuse(choice, &text, error);
    }
    for (size_t i = 0; i < choice->count; i++) {
        if (!choice->fits[i])
            continue;
        const char *unusable = json_text(device_at(choice, i), "unusable", NULL);
        if (unusable)
            return assay_fail(error, ASSAY_NO_DEVICE, "device %zu, %s, cannot be used: %s", i,
                              json_text(device_at(choice, i), "name", "?"), unusable);
        *index = i;
    }
    return true;
}

/* Smaller is better; the order of enum vulkan_class. */
static int class_rank(const json_t *device)
{
    static const char *const order[] = {"discrete", "integrated", "virtual", "other", "cpu"};
    const char *class = json_text(device, "class", "other");
    for (int i = 0; i < 5; i++)
        if (strcmp(class, order[i]) == 0)
            return i;
    return 3;
}

static bool is_cpu(const json_t *device)
{
    return class_rank(device) == 4;
}

enum scope { SCOPE_ALL, SCOPE_GPU, SCOPE_CPU };

/* Marks the usable devices of the best class within the scope. */
static void mark_best(struct choice *choice, enum scope scope)
{
    int best = 5;
    for (size_t i = 0; i < choice->count; i++) {
        const json_t *device = device_at(choice, i);
        choice->fits[i] = !json_text(device, "unusable", NULL) &&
                          (scope == SCOPE_ALL || is_cpu(device) == (scope == SCOPE_CPU));
        if (choice->fits[i] && class_rank(device) < best)
            best = class_rank(device);
    }
    for (size_t i = 0; i < choice->count; i++)
        choice->fits[i] = choice->fits[i] && class_rank(device_at(choice, i)) == best;
}

static bool mark(struct choice *choice, const char *selector,
                 bool (*match)(const json_t *device, const char *selector))
{
    for (size_t i = 0; i < choice->count; i++)
        choice->fits[i] = match(device_at(choice, i), selector);
    return fitting(choice) > 0;
}

/* Hexadecimal digits of a UUID without its dashes, lower case. False: something else is in it. */
static bool hex_digits(const char *text, char out[33])
{
    size_t n = 0;
    for (; *text; text++) {
        if (*text == '-')
            continue;
        if (!isxdigit((unsigned char)*text) || n == 32)
            return false;
        out[n++] = (char)tolower((unsigned char)*text);
    }
    out[n] = '\0';
    return n >= 8;
}

static bool match_uuid(const json_t *device, const char *selector)
{
    char wanted[33], have[33];
    return hex_digits(selector, wanted) && hex_digits(json_text(device, "uuid", ""), have) &&
           strncmp(wanted, have, strlen(wanted)) == 0;
}

/* "01:00.0" means any domain's. */
static bool match_pci(const json_t *device, const char *selector)
{
    const char *pci = json_text(device, "pci", NULL);
    if (!pci)
        return false;
    const char *short_form = strchr(pci, ':');
    return strcasecmp(pci, selector) == 0 ||
           (short_form && strcasecmp(short_form + 1, selector) == 0);
}

static bool match_exact(const json_t *device, const char *selector)
{
    return strcmp(json_text(device, "name", ""), selector) == 0;
}

static bool match_part(const json_t *device, const char *selector)
{
    return strcasestr(json_text(device, "name", ""), selector) ||
           strcasestr(json_text(json_object_get(device, "driver"), "name", ""), selector) ||
           strcasestr(json_text(device, "label", ""), selector);
}

static bool is_number(const char *selector)
{
    return selector[0] && selector[strspn(selector, "0123456789")] == '\0';
}

static bool select_index(struct choice *choice, const char *selector, size_t *index,
                         struct assay_error *error)
{
    size_t value = 0;
    for (const char *p = selector; *p && value < choice->count; p++)
        value = value * 10 + (size_t)(*p - '0');
    if (value < choice->count) {
        choice->fits[value] = true;
        return take(choice, selector, index, error);
    }
    struct text text = {0};
    text_addf(&text, "device %s: there %s %zu device%s, ", selector,
              choice->count == 1 ? "is" : "are", choice->count, choice->count == 1 ? "" : "s");
    add_indices(&text, choice, true);
    return refuse(choice, &text, error);
}

static bool select_class(struct choice *choice, const char *selector, enum scope scope,
                         size_t *index, struct assay_error *error)
{
    mark_best(choice, scope);
    if (fitting(choice) > 0)
        return take(choice, selector, index, error);
    struct text text = {0};
    text_add(&text, scope == SCOPE_GPU   ? "device 'gpu': there is no GPU that can be used"
                    : scope == SCOPE_CPU ? "device 'cpu': there is no CPU driver"
                                         : "there is no device that can be used");
    return refuse(choice, &text, error);
}

static bool select_named(struct choice *choice, const char *selector, size_t *index,
                         struct assay_error *error)
{
    static bool (*const matches[])(const json_t *, const char *) = {match_uuid, match_pci,
                                                                    match_exact, match_part};
    for (size_t i = 0; i < sizeof(matches) / sizeof(matches[0]); i++)
        if (mark(choice, selector, matches[i]))
            return take(choice, selector, index, error);
    struct text text = {0};
    text_add(&text, "device '");
    text_add_clean(&text, selector);
    text_add(&text, "' is none of the devices here");
    return refuse(choice, &text, error);
}

static bool select_any(struct choice *choice, const char *selector, size_t *index,
                       struct assay_error *error)
{
    if (!selector || !selector[0])
        return select_class(choice, NULL, SCOPE_ALL, index, error);
    /* Eight digits and more may also be the beginning of a UUID. */
    if (is_number(selector) && !mark(choice, selector, match_uuid))
        return select_index(choice, selector, index, error);
    if (strcasecmp(selector, "cpu") == 0)
        return select_class(choice, selector, SCOPE_CPU, index, error);
    if (strcasecmp(selector, "gpu") == 0)
        return select_class(choice, selector, SCOPE_GPU, index, error);
    return select_named(choice, selector, index, error);
}

bool vulkan_select(const json_t *inventory, const char *selector, size_t *index,
                   struct assay_error *error)
{
    struct choice choice = {.inventory = inventory, .count = json_array_size(inventory)};
    if (choice.count == 0)
        return assay_fail(error, ASSAY_NO_DEVICE, "there is no Vulkan device");
    choice.fits = calloc(choice.count, sizeof(*choice.fits));
    if (!choice.fits)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for the choice of a device");
    const bool ok = select_any(&choice, selector, index, error);
    free(choice.fits);
    return ok;
}
