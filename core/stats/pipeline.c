/* SPDX-License-Identifier: MIT */
#include "stats/pipeline.h"

static double group_sum(const struct pipeline_stage *stages, size_t count, unsigned group)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        if (stages[i].group == group)
            sum += stages[i].time;
    return sum;
}

static bool is_shared(const struct pipeline_stage *stages, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (stages[i].group == stages[at].group)
            return true;
    return false;
}

void pipeline_predict(const struct pipeline_stage *stages, size_t count, unsigned depth,
                      struct pipeline *out)
{
    *out = (struct pipeline){.group = count ? stages[0].group : 0, .exact = true};
    for (size_t i = 0; i < count; i++) {
        double sum = group_sum(stages, count, stages[i].group);
        out->serial += stages[i].time;
        if (is_shared(stages, i))
            out->exact = false;
        if (sum > out->busiest) {
            out->busiest = sum;
            out->group = stages[i].group;
        }
    }
    double share = out->serial / depth;
    out->period = out->busiest > share ? out->busiest : share;
}
