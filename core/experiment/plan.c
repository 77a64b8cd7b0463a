/* SPDX-License-Identifier: MIT */
#include "experiment/plan.h"

#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SETTINGS 256

/* What users of the plan need not see. */
struct plan_inside {
    struct plan plan; /* first: the public pointer is this one */
    size_t case_room, experiment_room;
    uint32_t *slots; /* open addressing: index + 1 of the case, 0 is free */
    size_t slot_count;
    size_t group_room;
    struct group_key *keys; /* of the groups of the last experiment, when it has a pair axis */
    size_t key_room;        /* a power of two; open addressing */
    size_t key_count;
    uint32_t *names; /* the same for experiments, by name */
    size_t name_count;
    struct text canonical; /* reused */
};

struct group_key {
    struct hash128 hash; /* of the canonical text without the pair axis */
    uint32_t group;      /* + 1; 0 is free */
};

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the plan");
}

struct plan *plan_create(const struct catalog *catalog, uint64_t seed, struct assay_error *error)
{
    struct plan_inside *inside = calloc(1, sizeof(*inside));
    struct plan *plan = inside ? &inside->plan : NULL;
    if (!plan || !(plan->arena = arena_create())) {
        no_memory(error);
        free(inside);
        return NULL;
    }
    plan->catalog = catalog;
    plan->seed = seed;
    return plan;
}

void plan_destroy(struct plan **plan)
{
    struct plan_inside *inside = (struct plan_inside *)*plan;
    if (!inside)
        return;
    arena_destroy(&inside->plan.arena);
    free(inside->plan.experiments);
    free(inside->plan.cases);
    free(inside->plan.groups);
    free(inside->slots);
    free(inside->keys);
    free(inside->names);
    text_free(&inside->canonical);
    free(inside);
    *plan = NULL;
}

/* Room for one more element; doubles. */
static bool reserve(void **array, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return true;
    size_t wanted = *room ? *room * 2 : 16;
    if (wanted > SIZE_MAX / 2 / size)
        return false;
    void *grown = realloc(*array, wanted * size);
    if (!grown)
        return false;
    *array = grown;
    *room = wanted;
    return true;
}

static const char *const *copy_names(struct arena *arena, const char *const *names)
{
    size_t count = 0;
    while (names && names[count])
        count++;
    const char **copy = arena_alloc(arena, (count + 1) * sizeof(*copy));
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = arena_copy(arena, names[i]);
        if (!copy[i])
            return NULL;
    }
    return copy;
}

static uint64_t id_word(const struct hash128 *id)
{
    uint64_t word;
    memcpy(&word, id->bytes, sizeof(word));
    return word;
}

/* Where the experiment of this name is, or would be. */
static size_t name_slot(const struct plan_inside *inside, const char *name)
{
    struct hash128 hash = hash_bytes(name, strlen(name));
    size_t mask = inside->name_count - 1, slot = (size_t)id_word(&hash) & mask;
    while (inside->names[slot] &&
           strcmp(inside->plan.experiments[inside->names[slot] - 1].name, name) != 0)
        slot = (slot + 1) & mask;
    return slot;
}

/* Room for one more name. */
static bool names_grow(struct plan_inside *inside)
{
    if (inside->plan.experiment_count >= UINT32_MAX - 1)
        return false;
    if (inside->plan.experiment_count * 2 < inside->name_count)
        return true;
    size_t count = inside->name_count ? inside->name_count * 2 : 16;
    uint32_t *names = calloc(count, sizeof(*names));
    if (!names)
        return false;
    free(inside->names);
    inside->names = names;
    inside->name_count = count;
    for (size_t i = 0; i < inside->plan.experiment_count; i++)
        names[name_slot(inside, inside->plan.experiments[i].name)] = (uint32_t)i + 1;
    return true;
}

static const struct search *search_copy(struct arena *arena, const struct search *search)
{
    struct search *copy = arena_alloc(arena, sizeof(*copy));
    if (!copy)
        return NULL;
    *copy = *search;
    copy->vary = arena_copy(arena, search->vary);
    copy->metric = arena_copy(arena, search->metric);
    return copy->vary && copy->metric ? copy : NULL;
}

bool plan_add_experiment(struct plan *plan, const struct plan_experiment *experiment,
                         struct assay_error *error)
{
    struct plan_inside *inside = (struct plan_inside *)plan;
    if (!names_grow(inside))
        return no_memory(error);
    size_t slot = name_slot(inside, experiment->name);
    if (inside->names[slot]) {
        const struct plan_experiment *other = &plan->experiments[inside->names[slot] - 1];
        return assay_fail(error, ASSAY_INVALID,
                          "there is an experiment of the name '%s' already, at %s:%d; give each "
                          "a name of its own",
                          experiment->name, other->script, other->line);
    }
    void *array = plan->experiments;
    if (!reserve(&array, &inside->experiment_room, plan->experiment_count, sizeof(*experiment)))
        return no_memory(error);
    plan->experiments = array;
    struct plan_experiment copy = *experiment;
    copy.name = arena_copy(plan->arena, experiment->name);
    copy.script = arena_copy(plan->arena, experiment->script);
    copy.varied = copy_names(plan->arena, experiment->varied);
    copy.pair = experiment->pair ? arena_copy(plan->arena, experiment->pair) : NULL;
    copy.search = experiment->search ? search_copy(plan->arena, experiment->search) : NULL;
    if (experiment->search && !copy.search)
        return no_memory(error);
    copy.first_case = plan->case_count;
    copy.case_count = 0;
    if (!copy.name || !copy.script || !copy.varied || (experiment->pair && !copy.pair))
        return no_memory(error);
    inside->key_count = 0;
    if (inside->keys)
        memset(inside->keys, 0, inside->key_room * sizeof(*inside->keys));
    plan->experiments[plan->experiment_count++] = copy;
    inside->names[slot] = (uint32_t)plan->experiment_count;
    return true;
}

static void add_json_string(struct text *text, const char *string)
{
    json_add_string(text, string, strlen(string));
}

static bool add_json_value(struct text *text, const struct assay_option *option,
                           const struct option_value *value, struct assay_error *error)
{
    switch (value->kind) {
    case ASSAY_OPTION_INTEGER:
        text_addf(text, "%" PRId64, value->as.integer);
        return true;
    case ASSAY_OPTION_BOOLEAN:
        text_add(text, value->as.boolean ? "true" : "false");
        return true;
    case ASSAY_OPTION_CHOICE:
        add_json_string(text, option->choices[value->as.choice]);
        return true;
    case ASSAY_OPTION_TEXT:
    case ASSAY_OPTION_SOURCE:
        add_json_string(text, value->as.text);
        return true;
    case ASSAY_OPTION_REAL:
        break;
    }
    if (!isfinite(value->as.real))
        return assay_fail(error, ASSAY_INVALID, "%s: the value is not a finite number",
                          option->name);
    json_add_real(text, value->as.real);
    return true;
}

static bool add_params(const struct plan_case *item, const char *without, struct text *out,
                       struct assay_error *error)
{
    const struct assay_option *const *options = item->workload->options;
    const struct plan_setting *sorted[MAX_SETTINGS];
    if (item->setting_count > MAX_SETTINGS)
        return assay_fail(error, ASSAY_INVALID, "more than %d parameters are set", MAX_SETTINGS);
    for (uint32_t i = 0; i < item->setting_count; i++) {
        uint32_t at = i;
        for (; at > 0; at--) {
            const char *before = options[sorted[at - 1]->option]->name;
            if (strcmp(before, options[item->settings[i].option]->name) < 0)
                break;
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = &item->settings[i];
    }
    text_add_char(out, '{');
    const char *gap = "";
    for (uint32_t i = 0; i < item->setting_count; i++) {
        const struct assay_option *option = options[sorted[i]->option];
        if (without && strcmp(option->name, without) == 0)
            continue;
        text_add(out, gap);
        gap = ",";
        add_json_string(out, option->name);
        text_add_char(out, ':');
        if (!add_json_value(out, option, &sorted[i]->value, error))
            return false;
    }
    text_add_char(out, '}');
    return true;
}

const struct schedule *plan_case_schedule(const struct plan_case *item)
{
    static const struct schedule serial = SCHEDULE_DEFAULT_SERIAL;
    return item->schedule ? item->schedule : &serial;
}

static bool add_schedule(const struct plan_case *item, struct text *out, struct assay_error *error)
{
    if (!item->schedule) { /* there may be a million cases */
        text_add(out, "{\"name\":\"serial\"}");
        return true;
    }
    json_t *json = schedule_to_json(item->schedule);
    bool good = json ? json_add_line(out, json, true, error) : no_memory(error);
    json_decref(json);
    return good;
}

static bool add_search(const struct search *search, struct text *out, struct assay_error *error)
{
    json_t *json = search_to_json(search);
    text_add(out, ",\"search\":");
    bool good = json ? json_add_line(out, json, true, error) : no_memory(error);
    json_decref(json);
    return good;
}

/* Without the axis of this name, unless NULL. */
static bool add_canonical(const struct plan *plan, const struct plan_case *item,
                          const char *without, struct text *out, struct assay_error *error)
{
    const char *axis = without ? without : "";
    text_add(out, "{\"device\":");
    if (item->device && strcmp(axis, "device") != 0)
        add_json_string(out, item->device);
    else
        text_add(out, "null");
    text_add(out, ",\"experiment\":");
    add_json_string(out, plan->experiments[item->experiment].name);
    text_add(out, ",\"params\":");
    if (!add_params(item, without, out, error))
        return false;
    uint32_t replica = strcmp(axis, "replica") == 0 ? 0 : item->replica;
    text_addf(out, ",\"replica\":%" PRIu32 ",\"schedule\":", replica);
    if (strcmp(axis, "schedule") == 0)
        text_add(out, "null");
    else if (!add_schedule(item, out, error))
        return false;
    const struct search *search = plan->experiments[item->experiment].search;
    if (search && !add_search(search, out, error))
        return false;
    text_addf(out, ",\"seed\":%" PRIu64, plan->seed);
    bool workload = strcmp(axis, "workload") != 0;
    text_add(out, ",\"version\":");
    add_json_string(out, workload ? item->workload->version : "");
    text_add(out, ",\"workload\":");
    add_json_string(out, workload ? item->workload->name : "");
    text_add_char(out, '}');
    return !out->failed || no_memory(error);
}

bool plan_case_canonical(const struct plan *plan, const struct plan_case *item, struct text *out,
                         struct assay_error *error)
{
    return add_canonical(plan, item, NULL, out, error);
}

/* The case's seed follows from the id, byte order aside. */
static uint64_t case_seed(uint64_t seed, const struct hash128 *id)
{
    uint64_t word = 0;
    for (int i = 0; i < 8; i++)
        word = word << 8 | id->bytes[i];
    return random_child(seed, word) >> 1; /* a JSON integer */
}

static size_t slot_of(const struct plan_inside *inside, const struct hash128 *id)
{
    size_t mask = inside->slot_count - 1;
    size_t slot = (size_t)id_word(id) & mask;
    while (inside->slots[slot] &&
           memcmp(&inside->plan.cases[inside->slots[slot] - 1].id, id, sizeof(*id)) != 0)
        slot = (slot + 1) & mask;
    return slot;
}

static bool slots_grow(struct plan_inside *inside)
{
    if (inside->plan.case_count >= UINT32_MAX - 1)
        return false;
    if (inside->plan.case_count * 2 < inside->slot_count)
        return true;
    size_t count = inside->slot_count ? inside->slot_count * 2 : 64;
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (!slots)
        return false;
    free(inside->slots);
    inside->slots = slots;
    inside->slot_count = count;
    for (size_t i = 0; i < inside->plan.case_count; i++)
        slots[slot_of(inside, &inside->plan.cases[i].id)] = (uint32_t)i + 1;
    return true;
}

static bool settings_copy(struct plan *plan, struct plan_case *item)
{
    size_t bytes = item->setting_count * sizeof(struct plan_setting);
    struct plan_setting *settings = arena_alloc(plan->arena, bytes + 1);
    if (!settings)
        return false;
    if (bytes)
        memcpy(settings, item->settings, bytes);
    for (uint32_t i = 0; i < item->setting_count; i++) {
        struct option_value *value = &settings[i].value;
        if (value->kind != ASSAY_OPTION_TEXT && value->kind != ASSAY_OPTION_SOURCE)
            continue;
        value->as.text = arena_copy(plan->arena, value->as.text);
        if (!value->as.text)
            return false;
    }
    item->settings = settings;
    return true;
}

static bool refuse_twice(const struct plan *plan, const struct plan_case *item,
                         struct assay_error *error)
{
    struct text label = {0};
    plan_case_label(plan, item, false, &label);
    assay_fail(
        error, ASSAY_INVALID,
        "the case '%s' is there twice; remove the repeated value, or vary 'replica' to repeat "
        "a case",
        text_string(&label));
    text_free(&label);
    return false;
}

const struct plan_case *plan_find(const struct plan *plan, const struct hash128 *id)
{
    const struct plan_inside *inside = (const struct plan_inside *)plan;
    if (!inside->slot_count)
        return NULL;
    uint32_t slot = inside->slots[slot_of(inside, id)];
    return slot ? &plan->cases[slot - 1] : NULL;
}

bool plan_has_case(struct plan *plan, const struct plan_case *item, bool *has,
                   struct assay_error *error)
{
    struct plan_inside *inside = (struct plan_inside *)plan;
    struct plan_case copy = *item;
    copy.experiment = (uint32_t)plan->experiment_count - 1;
    text_clear(&inside->canonical);
    if (!plan_case_canonical(plan, &copy, &inside->canonical, error))
        return false;
    struct hash128 id = hash_bytes(inside->canonical.data, inside->canonical.length);
    *has = plan_find(plan, &id) != NULL;
    return true;
}

/* The name that the previous case has, so that many cases share one copy. */
static const char *device_copy(struct plan *plan, const char *device)
{
    const char *last = plan->case_count ? plan->cases[plan->case_count - 1].device : NULL;
    return last && strcmp(last, device) == 0 ? last : arena_copy(plan->arena, device);
}

/* The same for its schedule: an experiment has few. */
static const struct schedule *schedule_copy(struct plan *plan, const struct schedule *schedule)
{
    const struct plan_case *last = plan->case_count ? &plan->cases[plan->case_count - 1] : NULL;
    if (last && last->schedule && schedule_equal(last->schedule, schedule))
        return last->schedule;
    struct schedule *copy = arena_alloc(plan->arena, sizeof(*copy));
    if (copy)
        *copy = *schedule;
    return copy;
}

static struct group_key *key_place(const struct plan_inside *inside, const struct hash128 *hash)
{
    size_t mask = inside->key_room - 1, place = (size_t)id_word(hash) & mask;
    while (inside->keys[place].group && memcmp(&inside->keys[place].hash, hash, sizeof(*hash)) != 0)
        place = (place + 1) & mask;
    return &inside->keys[place];
}

static bool keys_grow(struct plan_inside *inside)
{
    if (inside->key_count * 2 < inside->key_room)
        return true;
    size_t before = inside->key_room;
    struct group_key *old = inside->keys;
    size_t room = before ? before * 2 : 64;
    struct group_key *keys = calloc(room, sizeof(*keys));
    if (!keys)
        return false;
    inside->keys = keys;
    inside->key_room = room;
    for (size_t i = 0; i < before; i++)
        if (old[i].group)
            *key_place(inside, &old[i].hash) = old[i];
    free(old);
    return true;
}

/* The group that a case with a pair axis belongs to; *key is where a new one is to be noted. */
static bool group_find(struct plan_inside *inside, const struct plan_case *item,
                       struct group_key **key, struct assay_error *error)
{
    const struct plan *plan = &inside->plan;
    const char *pair = plan->experiments[item->experiment].pair;
    *key = NULL;
    if (!pair)
        return true;
    if (!keys_grow(inside))
        return no_memory(error);
    text_clear(&inside->canonical);
    if (!add_canonical(plan, item, pair, &inside->canonical, error))
        return false;
    struct hash128 hash = hash_bytes(inside->canonical.data, inside->canonical.length);
    *key = key_place(inside, &hash);
    (*key)->hash = hash;
    return true;
}

/* Puts the case, which will have index `index`, into its group. */
static bool group_join(struct plan_inside *inside, struct plan_case *item, uint32_t index,
                       struct assay_error *error)
{
    struct plan *plan = &inside->plan;
    struct group_key *key;
    if (!group_find(inside, item, &key, error))
        return false;
    item->next = PLAN_NONE;
    if (key && key->group) {
        struct plan_group *group = &plan->groups[key->group - 1];
        item->group = key->group - 1;
        plan->cases[group->last].next = index;
        group->last = index;
        group->count++;
        return true;
    }
    void *array = plan->groups;
    if (!reserve(&array, &inside->group_room, plan->group_count, sizeof(*plan->groups)))
        return no_memory(error);
    plan->groups = array;
    item->group = (uint32_t)plan->group_count;
    plan->groups[plan->group_count++] = (struct plan_group){index, index, 1};
    if (key) {
        key->group = item->group + 1;
        inside->key_count++;
    }
    return true;
}

bool plan_add_case(struct plan *plan, const struct plan_case *item, struct assay_error *error)
{
    struct plan_inside *inside = (struct plan_inside *)plan;
    void *array = plan->cases;
    if (plan->experiment_count == 0)
        return assay_fail(error, ASSAY_INTERNAL, "a case without an experiment");
    if (!reserve(&array, &inside->case_room, plan->case_count, sizeof(*item)))
        return no_memory(error);
    plan->cases = array;
    if (!slots_grow(inside))
        return no_memory(error);
    struct plan_case copy = *item;
    copy.experiment = (uint32_t)plan->experiment_count - 1;
    text_clear(&inside->canonical);
    if (!plan_case_canonical(plan, &copy, &inside->canonical, error))
        return false;
    copy.id = hash_bytes(inside->canonical.data, inside->canonical.length);
    copy.seed = case_seed(plan->seed, &copy.id);
    copy.selected = true;
    size_t slot = slot_of(inside, &copy.id);
    if (inside->slots[slot])
        return refuse_twice(plan, &copy, error);
    if (item->device && !(copy.device = device_copy(plan, item->device)))
        return no_memory(error);
    if (item->schedule && !(copy.schedule = schedule_copy(plan, item->schedule)))
        return no_memory(error);
    if (!settings_copy(plan, &copy))
        return no_memory(error);
    if (!group_join(inside, &copy, (uint32_t)plan->case_count, error))
        return false;
    plan->cases[plan->case_count++] = copy;
    plan->experiments[copy.experiment].case_count++;
    inside->slots[slot] = (uint32_t)plan->case_count;
    return true;
}
