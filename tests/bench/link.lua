-- SPDX-License-Identifier: MIT
-- What a device's PCI Express link can carry, as sysfs tells it. Links rest at a lower speed, so they are looked at while a
-- command keeps them busy. Returns a function of the PCI address and a scratch directory; it gives nil and the reason, or an
-- object.

-- Bytes a second: transfers a second of each lane, less the line's code, less what each packet of data carries beside it.
local function rate(speed_gt, width, payload)
  local coding = speed_gt < 8 and 8 / 10 or speed_gt < 64 and 128 / 130 or 236 / 256 -- 6.0: of a flit of 256 bytes
  -- Header 12; framing and check 8 (6.0 has them in its flits); and 8 for acknowledgements and credits, which go the same way: a
  -- packet of 8 each for about every second packet of data.
  local beside = speed_gt < 64 and 12 + 8 + 8 or 12
  return speed_gt * 1e9 / 8 * width * coding * payload / (payload + beside)
end

-- The payload of a packet at most, as set (Device Control of the PCI Express capability), or nil: only root sees that far.
local function payload_bytes(directory)
  local file = io.open(directory .. "/config", "rb")
  local config = file and file:read(256) or ""
  if file then file:close() end
  local at = config:byte(0x34 + 1)
  for _ = 1, 48 do
    if not at or at == 0 or #config < at + 10 then return nil end
    if config:byte(at + 1) == 0x10 then return 128 << (config:byte(at + 9) >> 5 & 7) end
    at = config:byte(at + 2)
  end
  return nil
end

return function(pci, scratch)
  local directory = (os.getenv("ASSAY_SYSFS") or "/sys") .. "/bus/pci/devices/" .. pci
  local log, done = scratch .. "/link", scratch .. "/done"
  local file = io.open(directory .. "/current_link_speed")
  if not file then return nil, directory .. "/current_link_speed cannot be read" end
  file:close()
  local link = {}

  -- A command that does the same and notes the link's state meanwhile.
  function link.watched(command)
    return ([[rm -f %s; { %s; touch %s; } &
while cat %s/current_link_speed %s/current_link_width | tr '\n' ' ' >>%s; echo >>%s; [ ! -e %s ]; do sleep 0.05; done
wait]]):format(done, command, done, directory, directory, log, log, done)
  end

  -- The most that any state seen allows, and how it was worked out; or nil and why not.
  function link.limit()
    local payload, best, text = payload_bytes(directory), 0, nil
    for line in io.lines(log) do
      local speed, width = line:match("^([%d.]+) GT/s.-(%d+)%s*$")
      local bytes = speed and rate(tonumber(speed), tonumber(width), payload or 256) or 0
      if bytes > best then
        best = bytes
        text = ("%g GT/s x%d, packets of %d B%s"):format(tonumber(speed), tonumber(width), payload or 256,
          payload and "" or " (taken)")
      end
    end
    if best == 0 then return nil, directory .. " tells no speed and width of the link" end
    return best, text
  end

  return link
end
