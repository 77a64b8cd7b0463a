-- SPDX-License-Identifier: MIT
-- How many requests a second can be served before people wait?
--   assay run scripts/load.lua
--   assay run scripts/load.lua --option work=10ms --option batch=16 --option wait=5ms
--
-- A benchmark that sends the next request when it has the last result never sees a queue: it asks as slowly as it is served.
-- Users do not wait for each other. In an open loop requests arrive by themselves, and what a user feels counts from the
-- moment that the request was meant to arrive: the queue in front of the device is a part of it.
--
-- Theory: one request at a time takes s, so capacity is 1 / s, and at rate q a part u = q s of the time is busy (utilisation).
-- With arrivals at random and an s that does not vary the mean wait is
--   u / (2 (1 - u)) s
-- a sixth of s at u = 0.25, half of it at 0.5, 1.5 s at 0.75, 4.5 s at 0.9; the 95th percentile rises some three times as
-- steeply. So
--   - latency is nearly flat at first, then it turns up: the knee. Where it is, is a question of what may be waited for, and
--     `assay.search` answers it: the highest rate whose p95 keeps a bound;
--   - the last tenth of capacity cannot be used by anyone who looks at latency: "the card does 500 a second" and "the card
--     serves 500 users a second" are different claims;
--   - beyond capacity there is no latency at all: the queue grows for as long as it is watched, and a figure would only tell
--     how long that was. Such a case is overload and says so;
--   - what is served in time (goodput) is never more than what arrived, and beyond the knee it falls: the device works on
--     requests that nobody waits for any more.
-- Batches move capacity up, where a batch of n costs less than n times one, and let the first of a batch wait for the last.
--
-- A request uploads, computes for about `work`, found by trials on this device, and downloads. The rates are chosen by it,
-- so transfers and submission, which come on top, count: the utilisation in the table is what was measured. Bounds that
-- need a rate below capacity are only asked for where the device was below it: on a busy machine that may be the first only.
local assay = require "assay"
local work = assay.quantity(assay.option("work", "2 ms", "compute time of a request"))
local batch = assay.option("batch", 1, "requests in a batch, at most")
local wait = assay.option("wait", "0 ms", "for how long a request waits for others of its batch, at most")
local requests = assay.option("requests", 400, "that arrive in a case; of the search, at its lowest rate")
local patience = assay.option("patience", 8, "p95 that is allowed, in compute times")

local capacity = assay.quantity "1 item" / work              -- that of one at a time, were there nothing but work
local request = { upload = "64 KiB", download = "4 KiB", compute_time = work }
local shares = { 0.1, 0.2, 0.4, 0.6, 0.8, 6 * batch }     -- of capacity; the last is beyond any capacity
local loads = {}
local function span(time) return math.ceil(time.value * 1e6) .. " us" end
for i, share in ipairs(shares) do
  loads[i] = assay.open_loop{ rate = share * capacity, duration = span(requests * work / share),
    batch_max = batch, wait_max = wait, deadline = work * patience }
end

assay.experiment {
  name = "latency by rate", workload = "overlap", fixed = request, schedule = loads,
  summary = function(all, expect)
    local lightest, heaviest                                    -- among those that were kept up with
    for r in all:each() do
      -- What is in time is a part of what arrives, which at random is some more or less than was asked for.
      expect(r.goodput):at_most(assay.quantity "1 item" * r.schedule.rate * (1 + 4 / math.sqrt(requests)) / "1 s")
      if r.latency.p95.absent then
        print(string.format("%.0f", r.schedule.rate) .. " req/s: " .. r.latency.p95.absent)
      else
        lightest, heaviest = lightest or r, r
        local u = r.utilisation
        print(string.format("%.0f", r.schedule.rate) .. " req/s: busy " .. tostring(u) .. ", p95 " .. tostring(r.latency.p95))
        if batch == 1 and u.high < 1 then
          print("  waits " .. tostring(r.latency.waiting) .. "; theory " ..
            tostring(u / (2 * (1 - u)) * r.latency.service))
        end
      end
    end
    local beyond = all[#shares]
    expect(beyond.status):equals("done")
    expect(beyond.latency.p95.absent ~= nil):is_true()          -- overload is said
    expect(beyond.utilisation):at_least(0.8)
    if lightest and heaviest and lightest ~= heaviest then
      expect(heaviest.latency.p95 / lightest.latency.p95):at_least(1)
    end
  end,
}

assay.search {
  name = "the knee", workload = "overlap", fixed = request,
  schedule = assay.open_loop{ duration = span(requests * work * 4), batch_max = batch, wait_max = wait },
  vary = "rate", from = 0.25 * capacity, to = 6 * batch * capacity,
  metric = "latency.p95", at_most = work * patience, precision = "20 %",
  check = function(r, expect)
    expect(r.value):at_most(5 * batch * capacity)                   -- there is one
    print("p95 stays within " .. tostring(work * patience) .. " up to " .. tostring(r.value))
  end,
}
