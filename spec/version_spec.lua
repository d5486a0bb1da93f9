--- One version, said in one place: include/perilune.h.
local peri = require "perilune"

local function read (path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

describe("the version", function ()
  local header = read "include/perilune.h"
  local version = header:match 'PERILUNE_VERSION%s+"([%d.]+)"'

  it("is that of the header, as text and as a number", function ()
    local major, minor, patch = version:match "^(%d+)%.(%d+)%.(%d+)$"
    assert.equal("perilune " .. version, peri._VERSION)
    assert.equal(10000 * major + 100 * minor + patch, tonumber(header:match "PERILUNE_VERSION_NUM (%d+)"))
  end)

  it("has a rockspec, and is the first of the changes", function ()
    local spec = {}
    assert(load(read("perilune-" .. version .. "-1.rockspec"), "rockspec", "t", spec))()
    assert.equal(version .. "-1", spec.version)
    assert.equal("v" .. version, spec.source.tag)
    assert.equal(version, read "CHANGELOG.md":match "\n## ([%d.]+)\n")
  end)

  it("builds a rock as the sources do", function ()
    local tagged, newest = {}, {}
    assert(load(read("perilune-" .. version .. "-1.rockspec"), "rockspec", "t", tagged))()
    assert(load(read "perilune-scm-1.rockspec", "rockspec", "t", newest))()
    assert.same(newest.build, tagged.build)
    assert.same(newest.dependencies, tagged.dependencies)
  end)
end)
