-- SPDX-License-Identifier: MIT
-- Is the first second's throughput that of the tenth minute?
--   assay run scripts/sustained.lua
--   assay run scripts/sustained.lua --option duration=600s --option depth=2
--
-- A benchmark of a second measures a cool device with a full power budget and an empty allocator. Work that goes on lowers
-- clocks (heat, power limits, what the provider of a virtual machine grants), fills caches and write buffers, and meets what
-- the machine does once a minute. A job of an hour runs at the rate that is left.
--
-- So the same batches are run twice: for a short while, one after the other, as benchmarks are, and without a pause for
-- `duration`, in forty windows. What is expected:
--   - the whole is not faster than the burst (depth 1: the same work; with more in flight it may be, by what overlaps);
--   - throughput does not move: `r.drift` is by how much the last third of the windows differs from the first, and the
--     bound on it is the verdict. On a machine with other work on it, drift is what that work did: run it alone;
--   - no window is far below the others: a pause is hidden by a mean, and seen by the slowest window;
--   - results are right after all of that, and no batch failed. One that does says after how long.
-- Drift down with clocks that fall (printed, where the machine has the sensors) is the device's doing; without, look at what
-- else ran. Drift up over the first windows is a warm-up that was too short.
--
-- The duration decides what can be seen: heat takes minutes. The default is a demonstration; claims need `duration=600s`.
local assay = require "assay"
local duration = assay.option("duration", "20 s", "of the long run")
local depth = assay.option("depth", 1, "batches in flight in the long run")
local drift = assay.option("drift", "10 %", "that throughput may move by")
local slowest = assay.option("slowest", 4.0, "times the median window that the slowest may take")

local schedules = { assay.serial(), assay.sustained{ duration = duration, depth = depth } }

assay.experiment {
  name = "burst and long run", workload = "overlap", schedule = schedules, deadline = assay.quantity(duration) * 2 + "60 s",
  fixed = { upload = "1 MiB", flops = "4 MFLOP", download = "64 KiB" },
  summary = function(all, expect)
    local burst, long = all:one{ schedule = "serial" }, all:one{ schedule = "sustained" }
    expect(long.status):equals("done")
    expect(long.verification.verdict):equals("right")
    local limit = assay.quantity(drift)
    expect(long.drift):between(-limit, limit)
    expect(long.throughput * burst.time):between("0.1 item", 4 * depth .. " item")   -- the same machine
    local windows = long.time.samples
    expect(#windows >= 20):is_true()
    table.sort(windows)
    expect(windows[#windows] / windows[#windows // 2 + 1]):at_most(slowest)
    print("throughput " .. tostring(long.throughput) .. ", " .. tostring(long.throughput * burst.time) .. " of the burst")
    print("drift " .. tostring(long.drift) .. "; the slowest of " .. #windows .. " windows takes " ..
      string.format("%.2f", windows[#windows] / windows[#windows // 2 + 1]) .. " times the median one")
    for _, sensor in ipairs { "cpu_clock", "cpu_temperature" } do
      local reading = long.sensors[sensor]
      if not reading.min.absent then print(sensor .. " from " .. tostring(reading.min) .. " to " .. tostring(reading.max)) end
    end
  end,
}
