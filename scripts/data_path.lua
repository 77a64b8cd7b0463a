-- SPDX-License-Identifier: MIT
-- From a file to a result: where does the time go?
--   assay run scripts/data_path.lua
--   assay run scripts/data_path.lua --option directory=/mnt/data --option direct=true         (the disk, not the page cache)
--
-- Data does not begin in the device's memory. It is read from a disk or comes over a network, a processor decodes or
-- selects it, a link carries it over, the device works, the result comes back. A pipeline of these runs at the rate of its
-- slowest part, and that is seldom the one that people have a GPU for: a card that is idle nine tenths of the time is fed
-- by something slower. Which part it is can be measured in a minute, before anything is optimised.
--
-- The first experiment makes each part slow in turn, on purpose: a source that delivers slowly, a decoder that costs
-- processor time, more bytes than the rest needs, a long kernel. `r.bottleneck` must name it each time; a tool that names
-- the right one when the answer is known can be believed when it is not. The model says what halving that part would bring,
-- and what halving another one would.
--
-- The second measures this machine: records in files, read by 1 and by 4 readers, prepared by the host, uploaded, worked
-- on, brought back, one batch after the other and with three in flight. Stage by stage the times add up to the whole; in
-- flight the slowest one is what is left. Files are in the page cache when they have just been written: `direct` reads past
-- it, from the disk.
local assay = require "assay"
local upload = assay.option("upload", "8 MiB", "records of a batch")
local directory = assay.option("directory", "", "where the files are made; empty: $TMPDIR or /tmp")
local direct = assay.option("direct", false, "read past the page cache")

local slow = {
  source  = { source = "feed", feed_rate = "100 MB/s", prepare = "decode", decode_time = "1 ms", flops = "1 MFLOP" },
  prepare = { source = "feed", feed_rate = "10 GB/s", prepare = "decode", decode_time = "80 ms", flops = "1 MFLOP" },
  upload  = { source = "memory", prepare = "none", upload = "128 MiB", flops = "1 MFLOP" },
  compute = { source = "feed", feed_rate = "10 GB/s", prepare = "decode", decode_time = "1 ms", compute_time = "80 ms" },
}
for stage, fixed in pairs(slow) do
  fixed.upload = fixed.upload or "8 MiB"
  fixed.download = "64 KiB"
  slow[stage] = { name = "slow " .. stage, workload = "overlap", fixed = fixed, budget = "1 s",
    check = function(r, expect)
      expect(r.bottleneck.stage):equals(stage)
      expect(r.bottleneck.share):at_least(0.4)
      local all = r:what_if{}.serial_time
      print("half of " .. stage .. " would be " .. tostring(all / r:what_if{ [stage] = 0.5 }.serial_time) .. " times as fast")
    end }
end
for _, stage in ipairs { "source", "prepare", "upload", "compute" } do assay.experiment(slow[stage]) end

assay.experiment {
  name = "from files", workload = "overlap",
  fixed = { upload = upload, source = "files", file_count = 8, directory = directory, direct = direct, prepare = "narrow",
    flops = "20 MFLOP", download = "64 KiB" },
  vary = { readers = { 1, 4 } },
  schedule = { assay.serial(), assay.pipelined{ depth = 3 } }, pair = "schedule", budget = "2 s",
  check = function(g, expect)
    local serial, flight = g:one{ schedule = "serial" }, g:one{ schedule = "pipelined" }
    local sum = serial.source.time + serial.prepare.time + serial.upload.time + serial.compute.time + serial.download.time
    expect(sum / serial.time):between(0.8, 1.05)               -- the stages are all there is
    expect(flight.period / flight.ideal_period):at_least(0.9)
    expect(flight.period / serial.time):at_most(1.1)
    print("the bottleneck is " .. tostring(serial.bottleneck.stage) .. ": " .. tostring(serial.bottleneck.share) .. " of a batch")
  end,
}
