-- SPDX-License-Identifier: MIT
-- Three times that are easily taken for one another, and what a wait costs.
--   submit_time   until the submit calls have returned: the work has hardly begun
--   device_time   the device at work, by its own clock
--   time          end to end: until the results can be read
-- Run it:  assay run scripts/submit_timing.lua
local assay = require "assay"

local most = assay.option("dispatches", 64, "dispatches of the largest batch")
local counts = { 1, 4, most }

assay.experiment {
  name     = "one wait a dispatch, one wait a batch",
  workload = "submit",                    -- small dispatches, one after the other
  vary     = { wait = { "each", "batch" }, dispatches = counts },
  pair     = "wait",                      -- both forms alive at once, sampled in turn
  budget   = "1 s",
  min_samples = 16,

  check = function(g, expect)
    for r in g:each() do
      -- Whoever stops the clock when the submit call returns has measured the call.
      expect(r.submit_time):at_most(r.time)
      -- The device's share; what is left is queueing, waking up and waiting.
      expect(r.device_time):at_most(r.time)
      expect(r.submissions):equals(r.p.wait == "each" and r.p.dispatches or 1)
    end
    local each, batch = g:one { wait = "each" }, g:one { wait = "batch" }
    if each.p.dispatches == most then
      -- Each submit costs the host's time, and each wait the device's and the host's.
      expect(each.submit_time / batch.submit_time):at_least(2)
      expect(each.time / batch.time):at_least(1.5)
    end
  end,

  summary = function(all, expect)
    -- A wait after each dispatch leaves the device idle until the host has come back. The more dispatches, the
    -- larger the part of the time that goes there: the factor between the two forms grows.
    local before
    for _, n in ipairs(counts) do
      local each  = all:one { wait = "each",  dispatches = n }
      local batch = all:one { wait = "batch", dispatches = n }
      local factor = each.time / batch.time
      if before then
        expect(factor):at_least(before)
      end
      before = factor
    end
  end,
}
