--- Checkpoints: states of running fits and chains in a file, the options `save`, `save_every` and `resume`.
--
-- The file is written beside the last one and takes its place when it is whole; the one before stays as NAME.before. A
-- file that was cut short is refused by its checksum (packed.lua), and the one before is read.
local errors  = require "perilune.errors"
local options = require "perilune.inference.options"

local raise = errors.raise

local checkpoint = {}

--- Rows of the options (options.lua).
checkpoint.ROWS = {
  { "save", false, "the name of a file", function (x) return x == false or type(x) == "string" and x ~= "" end },
  { "save_every", false, "a positive integer", function (x) return x == false or options.is_count(x) end },
  { "resume", false, "true or false", options.is_boolean },
}

--- Raises for options that make no sense together.
function checkpoint.check (who, read)
  if read.save and not io then raise("%s: save needs the library io, which this host does not give", who) end
  if not read.save and (read.save_every or read.resume) then
    raise("%s: %s needs save, the name of a file", who, read.save_every and "save_every" or "resume")
  end
  if read.save_every and not read.run then
    raise("%s: save_every is of no use with run = false; state() gives what is saved", who)
  end
  if read.save and not read.save_every and not read.resume then
    raise("%s: save needs save_every, or resume = true", who)
  end
end

local function read_file (name)
  local stream = io.open(name, "rb")
  if not stream then return nil end
  local text = stream:read "*a"
  stream:close()
  return text
end

local function write_file (name, text)
  local stream, why = io.open(name, "wb")
  local ok = stream
  if stream then
    ok, why = stream:write(text)
    local closed, why_not = stream:close()
    ok, why = ok and closed, why or why_not
  end
  if not ok then raise("save: %s cannot be written: %s", name, tostring(why)) end
end

--- Writes a state. Of several ranks rank 0 does; if it cannot, all raise.
function checkpoint.write (name, text, comm)
  local function write ()
    write_file(name .. ".new", text)
    os.rename(name, name .. ".before")
    local ok, why = os.rename(name .. ".new", name)
    if not ok then raise("save: %s cannot be written: %s", name, why) end
  end
  if not comm then return write() end
  require "perilune.inference.shared".together(comm, function () return comm.rank > 0 or write() end)
end

-- The texts of the last checkpoint and of that before, false where there is none.
local function texts_of (name, comm)
  if comm and comm.rank > 0 then return comm:bcast() end
  local texts = { read_file(name) or false, read_file(name .. ".before") or false }
  return comm and comm:bcast(texts) or texts
end

--- Goes on from the last checkpoint, or from the one before if that is refused: restore(text) returns true, or nil and
-- why. Returns whether there was one; raises if all are refused.
function checkpoint.resume (who, name, restore, comm)
  local texts, refused = texts_of(name, comm), nil
  for i, text in ipairs(texts) do
    local ok, why = nil, nil
    if text then ok, why = restore(text) end
    if ok then return true end
    if text then
      local file = i == 1 and name or name .. ".before"
      refused = string.format("%s: %s cannot be gone on from: %s", who, file, why)
      if i == 1 and texts[2] and warn and not (comm and comm.rank > 0) then
        warn("perilune: " .. refused .. "; the one before is tried")
      end
    end
  end
  if refused then raise("%s", refused) end
  return false
end

return checkpoint
