/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/os.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define REDRAW_NS INT64_C(100000000)
#define PLAIN_LINES 100 /* about so many in a long run */

void progress_init(struct progress *progress, enum progress_choice choice, size_t total)
{
    struct winsize size;
    const char *term = getenv("TERM");
    *progress = (struct progress){.enabled = choice != PROGRESS_OFF, .total = total, .width = 80};
    progress->terminal = isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
    progress->every = total <= 2 * PLAIN_LINES ? 1 : total / PLAIN_LINES;
    if (choice == PROGRESS_ON && !progress->terminal)
        progress->every = 1;
    if (progress->terminal && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20)
        progress->width = size.ws_col;
}

static void put(const struct text *text)
{
    /* Progress that cannot be shown is no reason to stop a run. */
    if (!os_write_all(STDERR_FILENO, text_string(text), text->length))
        return;
}

void progress_clear(struct progress *progress)
{
    if (progress->enabled && progress->terminal && progress->drawn_ns) {
        struct text text = {0};
        text_add(&text, "\r\033[K");
        put(&text);
        text_free(&text);
    }
}

/* Cuts at a character's start, so that the line never wraps. */
static void cut(struct text *text, size_t columns)
{
    size_t seen = 0;
    for (size_t i = 0; i < text->length; i++) {
        if (((unsigned char)text->data[i] & 0xC0) != 0x80 && ++seen > columns) {
            text->data[i] = '\0';
            text->length = i;
            return;
        }
    }
}

static void draw(struct progress *progress)
{
    struct text line = {0}, all = {0};
    progress->pending = false;
    text_addf(&line, "%zu/%zu ", progress->index + 1, progress->total);
    text_add_clean(&line, progress->plan->experiments[progress->item->experiment].name);
    text_add(&line, ": ");
    plan_case_label(progress->plan, progress->item, false, &line);
    if (!line.failed)
        cut(&line, progress->width - 1);
    text_addf(&all, "\r%s\033[K", text_string(&line));
    put(&all);
    text_free(&line);
    text_free(&all);
}

static void started(void *user, const struct plan *plan, const struct plan_case *item, size_t index,
                    size_t total)
{
    struct progress *progress = user;
    int64_t now_ns = clock_now(clock_monotonic());
    progress->index = index;
    progress->total = total;
    progress->plan = plan;
    progress->item = item;
    progress->pending = progress->enabled && progress->terminal;
    if (!progress->pending || (progress->drawn_ns && now_ns - progress->drawn_ns < REDRAW_NS))
        return;
    progress->drawn_ns = now_ns;
    draw(progress);
}

/* A case that followed a fast one too soon for the line, but is slow itself. */
static void waiting(void *user)
{
    struct progress *progress = user;
    if (progress->pending)
        draw(progress);
}

static void ended(void *user, const struct plan *plan, const struct plan_case *item,
                  const json_t *record)
{
    struct progress *progress = user;
    const char *status = json_text(record, "status", "error");
    bool wrong = strcmp(status, "done") != 0 && strcmp(status, "skipped") != 0;
    progress->ended++;
    if (!progress->enabled || progress->terminal ||
        (!wrong && progress->ended % progress->every != 0 && progress->ended != progress->total))
        return;
    struct text line = {0};
    text_addf(&line, "%zu/%zu %s: ", progress->ended, progress->total, status);
    text_add_clean(&line, plan->experiments[item->experiment].name);
    text_add(&line, ": ");
    plan_case_label(plan, item, false, &line);
    text_add_char(&line, '\n');
    put(&line);
    text_free(&line);
}

struct supervisor_events progress_events(struct progress *progress)
{
    return (struct supervisor_events){
        .user = progress, .started = started, .waiting = waiting, .ended = ended};
}
