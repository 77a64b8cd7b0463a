-- SPDX-License-Identifier: MIT
-- residency: how much work in flight it takes to hide the latency of memory. README.md says what it shows.
local assay = require "assay"

local function chains(p) return p.groups * p.width end

-- Where chain i (from 1) begins: an index of words. All chains are parts of one cycle; in it, neighbouring places are far apart.
local function beginning(p, i)
  return (i - 1) * (p.bytes // p.stride) // chains(p) * (p.stride // 4)
end

local steps_verified = 1 << 21 -- loads that verification repeats in Lua

assay.workload {
  name    = "residency",
  summary = "chains of dependent loads: latency by working set, throughput by chains in flight, verified",
  params  = {
    { "groups", 1, "workgroups", min = 1, max = 1 << 16 },
    { "width", 1, "invocations", min = 1, max = 1024, help = "of a workgroup; each follows a chain of its own" },
    { "bytes", "64 MiB", "B", min = 64, help = "the working set, a multiple of the stride" },
    { "stride", "64 B", "B", min = 4, max = 1 << 16, help = "from place to place; a cache line or more makes each load a line" },
    { "loads", 4096, "loads", min = 1, max = 60000, help = "that each invocation makes, one after the other" },
  },
  check   = function(p)
    if p.stride % 4 ~= 0 then return false, "stride must be a multiple of 4 B" end
    if chains(p) > 1 << 22 then return false, "groups times width must be at most 4194304" end
    return p.bytes % p.stride == 0, "bytes must be a multiple of stride"
  end,
  supported = function(device, p)
    local most = device.limits.max_group_invocations
    return p.width <= most, ("a workgroup of %d invocations; the device takes %d"):format(p.width, most)
  end,
  slot    = function(s, p)
    s.chain = s.device:buffer{ bytes = p.bytes, fill = assay.permutation(p.stride) }
    s.place = s.device:buffer{ bytes = 4 * chains(p), role = "input",
      fill = assay.computed(function(i) return beginning(p, i) end, "uint") }
    s.kernel = s.device:kernel{ "chase.comp", constants = { WIDTH = p.width } }
  end,
  stages  = {
    { "chase", help = "one dispatch",
      record  = function(s, p, cmd)
        cmd:dispatch(s.kernel, { chain = s.chain, place = s.place }, { loads = p.loads }, { groups = p.groups })
      end,
      bytes   = function(p) return 4 * p.loads * chains(p) end,
      read    = function(p) return 4 * (p.loads + 1) * chains(p) end,
      written = function(p) return 4 * chains(p) end,
      items   = function(p) return p.loads * chains(p) end },
  },
  verify  = function(s, p)
    local chain, count = s.chain:read "uint", chains(p)
    local function reference(i)
      local at = beginning(p, i)
      for _ = 1, p.loads do at = chain[at + 1] end
      return at
    end
    local looked = math.min(count, math.max(steps_verified // p.loads, 2))
    if looked == count then return assay.compare(s.place:read "uint", reference) end
    looked = math.min(looked, 1024)
    local results = {}
    for k = 0, looked - 1 do
      local i = k * (count - 1) // (looked - 1)
      results[k + 1] = assay.compare(s.place:read("uint", { offset = 4 * i, count = 1 }), function() return reference(i + 1) end)
    end
    return table.unpack(results)
  end,
}
