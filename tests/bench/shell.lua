-- SPDX-License-Identifier: MIT
-- What ci/bench and ci/gpu share: commands, and a scratch directory with caches of its own. Returns a function that makes it;
-- `device`: a selector, or nil.

return function(device)
  local shell = { programs = "build/tests/bench/", assay = "build/assay",
    device_option = device and (" --device '" .. device .. "'") or "" }

  -- Text, then as close() gives: true or nil, "exit", status.
  function shell.capture(command)
    local pipe = assert(io.popen(command))
    local text = pipe:read("a")
    return text, pipe:close()
  end

  local scratch = shell.capture("mktemp -d"):gsub("\n", "")
  shell.scratch = scratch
  shell.environment = ("env XDG_CACHE_HOME=%s/cache MESA_SHADER_CACHE_DIR=%s/mesa LC_ALL=C "):format(scratch, scratch)
  os.execute(("mkdir -p %s/cache %s/mesa"):format(scratch, scratch))

  function shell.close() os.execute("rm -rf " .. scratch) end

  -- Not os.exit: who started something (the loops of pairs.lua) ends it on the way out.
  function shell.fail(text) error(text, 0) end

  function shell.median(values)
    table.sort(values)
    local n = #values
    assert(n > 0)
    return n % 2 == 1 and values[(n + 1) // 2] or (values[n // 2] + values[n // 2 + 1]) / 2
  end

  -- Numbers that a program prints.
  function shell.numbers(command)
    local text, fine = shell.capture(shell.environment .. command)
    if not fine then shell.fail("failed: " .. command .. "\n" .. text) end
    local values = {}
    for word in text:gmatch("%S+") do values[#values + 1] = assert(tonumber(word), text) end
    return values
  end

  function shell.write(name, text)
    local path = scratch .. "/" .. name
    local file = assert(io.open(path, "w"))
    file:write(text)
    file:close()
    return path
  end

  local runs, kept = 0, false
  function shell.output_directory() -- the one before goes, unless keep() was called
    runs = runs + 1
    if not kept then os.execute(("rm -rf %s/out%d"):format(scratch, runs - 1)) end
    kept = false
    return ("%s/out%d"):format(scratch, runs)
  end
  function shell.keep() kept = true end

  return shell
end
