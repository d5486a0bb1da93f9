--- A case: a program that is made while it runs, so that a statement knows the values before it.
local Random = require "spec.fuzz.random"
local Source = require "spec.fuzz.values"
local fault  = require "spec.fuzz.fault"
local kinds  = require "spec.fuzz.statements"
local world  = require "spec.fuzz.world"

local case = {}

local LONGEST = 30   -- statements

-- Runs one statement; returns its fault, if any.
local function run (statement)
  local chunk, message = load(statement, "=case", "t", world)
  if not chunk then error("spec/fuzz makes what is no Lua: " .. statement .. ": " .. message, 0) end
  local ok, found = pcall(chunk)
  if ok then return nil end
  if fault.is(found) then return found end
  return { kind = "fuzzer", text = tostring(found) }
end

--- Runs statements one after another in a new world; returns the first fault, if any.
function case.replay (statements)
  world.reset()
  for _, statement in ipairs(statements) do
    local found = run(statement)
    if found then return found end
  end
end

-- The next statement; none where what the case has spoilt leaves nothing to go by.
local function next_statement (source)
  if not world.spoilt then return kinds.next(source) end
  local ok, statement = pcall(kinds.next, source)
  return ok and statement or nil
end

--- Makes and runs the case of a seed; `announce(statements)` is called before each statement runs. Returns the
-- statements and the fault, if there was one.
function case.run (seed, announce)
  world.reset()
  local random = Random.new(seed)
  random.is_extreme = random:once_in(4)
  local source = Source.new(random, random:pick { 0, 0.05, 0.3 })
  local statements = {}
  for i = 1, random:integer(3, LONGEST) do
    statements[i] = next_statement(source)
    if not statements[i] then break end
    announce(statements)
    local found = run(statements[i])
    if found then return statements, found end
  end
  return statements
end

return case
