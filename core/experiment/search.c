/* SPDX-License-Identifier: MIT */
#include "experiment/search.h"

#include "base/json.h"

#include <math.h>

#define ROUNDING 1e-9 /* relative, of values that are multiples of a step */

json_t *search_to_json(const struct search *search)
{
    return json_pack("{s:s, s:f, s:f, s:f, s:s, s:f, s:b, s:f}", "vary", search->vary, "from",
                     search->from, "to", search->to, "step", search->step, "metric", search->metric,
                     "bound", search->bound, "at_most", (int)search->at_most, "precision",
                     search->precision);
}

bool search_from_json(const json_t *json, struct search *search, struct assay_error *error)
{
    *search = (struct search){.vary = json_text(json, "vary", NULL),
                              .from = json_number(json, "from", 0),
                              .to = json_number(json, "to", 0),
                              .step = json_number(json, "step", 0),
                              .metric = json_text(json, "metric", NULL),
                              .bound = json_number(json, "bound", 0),
                              .at_most = json_flag(json, "at_most", true),
                              .precision = json_number(json, "precision", 0)};
    bool good = search->vary && search->metric && search->from > 0 && search->to > search->from &&
                search->precision > 0 && search->step >= 0;
    return good || assay_fail(error, ASSAY_INVALID, "the search is damaged");
}

const char *search_verdict_name(enum search_verdict verdict)
{
    static const char *const names[] = {
        [SEARCH_MISSES] = "misses", [SEARCH_OPEN] = "open", [SEARCH_KEEPS] = "keeps"};
    return names[verdict];
}

/* A value between two others, where there is one that is worth its time. */
static bool between(const struct search *search, double low, double high, double *value)
{
    double step = search->step;
    if (high <= low * (1 + search->precision) || high - low <= step * (1 + ROUNDING))
        return false;
    *value = sqrt(low) * sqrt(high); /* their product may be too large */
    if (step > 0) {
        *value = step * floor(*value / step * (1 + ROUNDING));
        if (*value <= low * (1 + ROUNDING))
            *value = step * (round(low / step) + 1);
    }
    return *value > low && *value < high * (1 - ROUNDING);
}

/* The highest that keeps the bound; -1: none. */
static int highest_kept(const struct search_state *state)
{
    int at = (int)state->count - 1;
    while (at >= 0 && state->probes[at].verdict != SEARCH_KEEPS)
        at--;
    return at;
}

static bool widest_gap(const struct search *search, const struct search_state *state, int first,
                       int last, double *value)
{
    int widest = -1;
    double most = 0, unused;
    for (int i = first; i < last; i++) {
        double low = state->probes[i].value, high = state->probes[i + 1].value;
        if (high / low <= most || !between(search, low, high, &unused))
            continue;
        most = high / low;
        widest = i;
    }
    return widest >= 0 &&
           between(search, state->probes[widest].value, state->probes[widest + 1].value, value);
}

/* From the highest that keeps the bound on. */
static bool narrow(const struct search *search, struct search_state *state, int kept, double *value)
{
    const struct search_probe *probes = state->probes;
    int last = (int)state->count - 1, next = kept + 1, miss = next;
    if (between(search, probes[kept].value, probes[next].value, value))
        return true;
    while (miss <= last && probes[miss].verdict == SEARCH_OPEN)
        miss++;
    if (miss > next && miss <= last &&
        between(search, probes[miss - 1].value, probes[miss].value, value))
        return true;
    if (!state->looked_above) {
        state->looked_above = true;
        if (widest_gap(search, state, miss, last, value))
            return true;
    }
    if (!state->looked_below) {
        state->looked_below = true;
        return widest_gap(search, state, 0, kept, value);
    }
    return false;
}

bool search_next(const struct search *search, struct search_state *state, double *value)
{
    int kept = highest_kept(state), last = (int)state->count - 1;
    if (state->count == SEARCH_MOST)
        return false;
    if (state->count < 2) {
        *value = state->count == 0 ? search->from : search->to;
        return true;
    }
    if (kept == last)
        return false;
    if (kept >= 0)
        return narrow(search, state, kept, value);
    /* Neither end: one more, between them. */
    return state->count == 2 && between(search, search->from, search->to, value);
}

void search_tell(struct search_state *state, double value, enum search_verdict verdict)
{
    if (state->count == SEARCH_MOST)
        return;
    unsigned at = state->count++;
    for (; at > 0 && state->probes[at - 1].value > value; at--)
        state->probes[at] = state->probes[at - 1];
    state->probes[at] = (struct search_probe){value, verdict};
}

void search_answer(const struct search_state *state, struct search_answer *answer)
{
    int kept = highest_kept(state), last = (int)state->count - 1, next = kept + 1, below = kept;
    *answer = (struct search_answer){.found = kept >= 0, .kept_at_to = kept == last};
    if (kept < 0)
        return;
    answer->value = answer->beyond = state->probes[kept].value;
    for (; next <= last; next++) {
        answer->beyond = state->probes[next].value;
        if (state->probes[next].verdict == SEARCH_MISSES)
            break;
        answer->open = true;
    }
    while (below >= 0 && state->probes[below].verdict == SEARCH_KEEPS)
        below--;
    answer->several = below >= 0;
    answer->missing = below >= 0 ? state->probes[below].value : 0;
}

unsigned search_most(const struct search *search)
{
    /* Each mean halves the logarithm of the gap, and one more rounds to a step. Four times: to the
     * limit and to where it is surely missed, and both again of a second limit. */
    double gaps = (log(search->to) - log(search->from)) / log1p(search->precision);
    unsigned halvings = gaps > 1 ? (unsigned)ceil(log2(gaps)) + 2 : 2;
    return 5 + 4 * halvings;
}
