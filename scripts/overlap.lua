-- SPDX-License-Identifier: MIT
-- Does the second batch upload while the first one computes, and what is that worth?
--   assay run scripts/overlap.lua
--   assay run scripts/overlap.lua --option upload=256MiB --option flops=60GFLOP --trace overlap.json
--
-- A batch is uploaded, worked on and brought back. One after the other a batch takes the sum of its stages. With several
-- batches in flight (depth), each in buffers of its own, stages of different batches can run at the same time, if what they
-- run on differs: a transfer queue and a compute queue, or a host thread. Stages that share one queue cannot.
--
-- Theory (docs/method.md, "Pipelines") says how far that goes. Between two batches lies at least the largest sum of stages
-- that share something, and at least the sum of all stages divided by the depth. So
--   - depth 1 is the serial schedule, whatever the queues;
--   - nothing beats the slowest stage: with balanced stages two batches in flight gain up to 2, with one stage that takes
--     nine tenths of the time they gain a tenth, and a third batch in flight gains little that the second did not;
--   - throughput rises, the latency of a batch does not fall: each still passes all of its stages, and waits between them;
--   - each batch in flight costs the memory of its slot.
--
-- `queues` says what the stages run on. "auto" takes what the device has: dedicated transfer queues where there are such,
-- else one queue for all. "one" is one queue for all: the control, in which nothing but host stages can overlap. "devices"
-- takes two logical devices of the driver in place of two queues; that is how a software driver with a single queue
-- overlaps at all (lavapipe; give it LP_NUM_THREADS=1, so that a kernel does not take the processor that the copy needs).
-- What a case got is in its record, and `--trace FILE` shows it on rows.
--
-- The cases of a comparison are sampled in turn (pair), so that ratios hold on a machine that does other things as well.
local assay = require "assay"
local upload = assay.option("upload", "16 MiB", "of a batch; its time should be near that of compute")
local flops = assay.option("flops", "60 MFLOP", "of the kernel")
local download = assay.option("download", "64 KiB", "results of a batch")

local schedules = { assay.serial() }
for _, queues in ipairs { "auto", "one", "devices" } do
  for depth = 1, 4 do schedules[#schedules + 1] = assay.pipelined{ depth = depth, queues = queues } end
end

assay.experiment {
  name = "depth and queues", workload = "overlap",
  fixed = { upload = upload, flops = flops, download = download },
  schedule = schedules, pair = "schedule", budget = "3 s",
  check = function(g, expect)
    local serial = g:one{ schedule = "serial" }
    for r in g:each() do
      if r.schedule.name == "pipelined" and r.status == "done" then
        expect(r.period / r.ideal_period):at_least(0.9)        -- nothing beats the slowest stage
        expect(r.latency.p50 / r.serial_time):at_least(0.9)    -- throughput rises, latency does not fall
        if r.schedule.depth == 1 then
          expect(r.period / r.serial_time):between(0.85, 1.3)  -- one in flight is one after the other
        else
          -- What the model makes of the gain, and at least a part of that: two processors, or a link and a
          -- processor, are not always two.
          local predicted = r.serial_time / r.ideal_period
          expect(r.serial_time / r.period):at_least(1 + (predicted.value - 1) * 0.25 - 0.1)
        end
        print(r, "gain " .. tostring(serial.time / r.period), "ideal " .. tostring(r.serial_time / r.ideal_period))
      end
    end
  end,
}
