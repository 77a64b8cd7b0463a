-- SPDX-License-Identifier: MIT
-- Half the invocations of a subgroup take each side of a branch: it takes the time of both sides. A subgroup goes one way
-- at a time; invocations that want the other way wait.
--   assay run scripts/simt.lua
-- Theory says 2, 1 and 4; the bounds leave room for a busy machine. One workgroup does: it is the time of a subgroup that
-- is looked at, and a short one is disturbed less often.
local assay = require "assay"
local work = assay.option("work", 16384, "multiply-adds of an invocation on a side of the branch")
local n = assay.option("n", 128, "invocations")

-- Cases that are compared are sampled in turn, so that their ratios hold while the machine does other things as well.
assay.experiment {
  name = "neighbours that go together", workload = "simt",
  fixed = { share = 0.5, work = work, work_else = work, n = n },
  vary = { granularity = { 1, 2, 4, 8, 16, 32, 64 } },
  pair = "granularity", budget = "1 s",
  check = function(g, expect)
    local whole = g:one{ granularity = 64 }
    local function factor(r) return r.compute.device_time / whole.compute.device_time end
    -- Both sides' time against that of one.
    expect(factor(g:one{ granularity = 1 })):between(1.3, 3)
    -- The granularity at which the time falls is the size of a subgroup. Some devices run less than they say at a time: a
    -- quarter of it divides all.
    for r in g:each() do
      if r.p.granularity > 1 and r.p.granularity <= (r.subgroup_size.value or 0) / 4 then
        expect(factor(r)):between(1.3, 3)
      end
    end
  end,
}

assay.experiment {
  name = "share on the first side", workload = "simt",
  fixed = { granularity = 1, work = work, work_else = work, n = n },
  vary = { share = { 0, 0.125, 0.25, 0.5, 0.75, 1 } },
  pair = "share", budget = "1 s",
  check = function(g, expect)
    local function factor(a, b)
      return g:one{ share = a }.compute.device_time / g:one{ share = b }.compute.device_time
    end
    expect(factor(0, 1)):between(0.5, 2)       -- all on one side, whichever
    expect(factor(0.5, 0)):between(1.3, 3)     -- both sides' time
    expect(factor(0.25, 0.5)):between(0.5, 2)  -- however many go there: one is enough
    expect(factor(0.75, 0.5)):between(0.5, 2)
  end,
}

assay.experiment {
  name = "what the other side does", workload = "simt",
  fixed = { granularity = 1, share = 0.5, work = work, n = n },
  vary = { work_else = { 0, 3 * work } },
  pair = "work_else", budget = "1 s",
  check = function(g, expect)
    -- 1 + 3 against 1 + 0: 4.
    local alone, with = g:one{ work_else = 0 }, g:one{ work_else = 3 * work }
    expect(with.compute.device_time / alone.compute.device_time):between(1.8, 7)
  end,
}
