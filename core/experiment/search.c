/* SPDX-License-Identifier: MIT */
#include "experiment/search.h"

#include "base/json.h"

#include <math.h>

json_t *search_to_json(const struct search *search)
{
    return json_pack("{s:s, s:f, s:f, s:b, s:s, s:f, s:b, s:f}", "vary", search->vary, "from",
                     search->from, "to", search->to, "whole", (int)search->whole, "metric",
                     search->metric, "bound", search->bound, "at_most", (int)search->at_most,
                     "precision", search->precision);
}

bool search_from_json(const json_t *json, struct search *search, struct assay_error *error)
{
    *search = (struct search){.vary = json_text(json, "vary", NULL),
                              .from = json_number(json, "from", 0),
                              .to = json_number(json, "to", 0),
                              .whole = json_flag(json, "whole", false),
                              .metric = json_text(json, "metric", NULL),
                              .bound = json_number(json, "bound", 0),
                              .at_most = json_flag(json, "at_most", true),
                              .precision = json_number(json, "precision", 0)};
    bool good = search->vary && search->metric && search->from > 0 && search->to > search->from &&
                search->precision > 0;
    return good || assay_fail(error, ASSAY_INVALID, "the search is damaged");
}

bool search_next(const struct search *search, const struct search_state *state, double *value)
{
    *value = search->from;
    if (!state->any_holds)
        return !state->any_fails;
    *value = search->to;
    if (!state->any_fails)
        return state->holds < search->to;
    if (search->whole && state->fails - state->holds <= 1)
        return false;
    *value = sqrt(state->holds * state->fails);
    if (search->whole) {
        *value = floor(*value);
        if (*value <= state->holds)
            *value = state->holds + 1;
    }
    return state->fails > state->holds * (1 + search->precision);
}

void search_tell(struct search_state *state, double value, bool holds)
{
    if (holds && (!state->any_holds || value > state->holds))
        state->holds = value;
    if (!holds && (!state->any_fails || value < state->fails))
        state->fails = value;
    state->any_holds = state->any_holds || holds;
    state->any_fails = state->any_fails || !holds;
}

unsigned search_most(const struct search *search)
{
    /* Each mean halves the logarithm of the gap; two more for rounding to whole values. */
    double gaps = log(search->to / search->from) / log1p(search->precision);
    return 4 + (gaps > 1 ? (unsigned)ceil(log2(gaps)) : 0);
}
