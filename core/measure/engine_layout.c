/* SPDX-License-Identifier: MIT */
#include "measure/engine.h"

#include "experiment/registry.h"
#include "vulkan/queue.h"

#include <stdio.h>
#include <string.h>

/* The number that a stage gives itself; 0: none. */
static unsigned own_number(const struct assay_stage *stage, const void *params)
{
    return stage->group ? stage->group(registry_stage(stage), params) : 0;
}

static struct engine_group describe(const struct serial_stage *entry, const void *params)
{
    const struct assay_stage *stage = entry->stage;
    struct engine_group group = {.run = true};
    if (entry->command) {
        group.place = ENGINE_QUEUE;
        group.member = entry->member;
        group.queue = command_queue(entry->command);
        snprintf(group.name, sizeof(group.name), "queue %u.%u.%u", group.member,
                 (unsigned)group.queue->family, (unsigned)group.queue->index);
        return group;
    }
    group.place = stage->kind == ASSAY_STAGE_MODEL ? ENGINE_MODEL : ENGINE_THREAD;
    group.number = own_number(stage, params);
    if (group.number > 0)
        snprintf(group.name, sizeof(group.name), "%s %u",
                 group.place == ENGINE_MODEL ? "model" : "host", group.number);
    else
        snprintf(group.name, sizeof(group.name), "%.40s",
                 group.place == ENGINE_MODEL ? stage->name : "host");
    return group;
}

static bool is_same(const struct engine_group *a, const struct engine_group *b)
{
    if (a->place != b->place)
        return false;
    if (a->place == ENGINE_QUEUE)
        return a->queue == b->queue;
    return a->number == b->number && (a->number > 0 || a->place == ENGINE_THREAD);
}

/* Groups are told apart by name: long ones are cut, and a stage may be called "host 2". */
static void name_apart(const struct engine_layout *layout, unsigned stage,
                       struct engine_group *group)
{
    for (unsigned i = 0; i < layout->groups; i++)
        if (strcmp(layout->group[i].name, group->name) == 0) {
            char name[sizeof(group->name)];
            memcpy(name, group->name, sizeof(name));
            snprintf(group->name, sizeof(group->name), "%.24s (stage %u)", name, stage + 1);
            return;
        }
}

/* Slots may be recorded in different ways: larger batches in more submissions. */
static bool is_driven(struct serial *const *slots, unsigned slot_count, unsigned stage)
{
    for (unsigned i = 0; i < slot_count; i++) {
        const struct assay_command *command = slots[i]->stages[stage].command;
        if (command && !command_is_one_submission(command))
            return true;
    }
    return false;
}

void engine_layout_make(struct serial *const *slots, unsigned slot_count, const void *params,
                        struct engine_layout *layout)
{
    const struct serial *serial = slots[0];
    *layout = (struct engine_layout){.stages = serial->count};
    for (unsigned i = 0; i < serial->count; i++) {
        const struct serial_stage *entry = &serial->stages[i];
        struct engine_group group = describe(entry, params);
        unsigned at = 0;
        while (at < layout->groups && !is_same(&layout->group[at], &group))
            at++;
        if (at == layout->groups) {
            name_apart(layout, i, &group);
            layout->group[layout->groups++] = group;
        } else if (layout->group_of[i - 1] != at) {
            layout->group[at].run = false;
        }
        layout->group_of[i] = at;
        if (is_driven(slots, slot_count, i))
            layout->group[at].driven = true;
    }
}
