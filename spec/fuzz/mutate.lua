--- Saved states with bits flipped, bytes cut and values changed: each is refused, or goes on as some state would.
--
-- mutants.lua makes many; states.lua has the states, and mutations.lua the changes.
--
-- A text whose sum is wrong must be refused; one that was signed again may be taken, and then what follows is
-- watched as the fuzzer watches calls: no raw error, no hang, no memory. What was restored last has no say: the right
-- text restored afterwards goes on to the same bits.
local Random    = require "spec.fuzz.random"
local fault     = require "spec.fuzz.fault"
local mutations = require "spec.fuzz.mutations"
local world     = require "spec.fuzz.world"

local mutate = {}

local states, expected

-- The states, and what follows each.
local function prepare ()
  if states then return end
  states, expected = require "spec.fuzz.states", {}
  for i, state in ipairs(states) do
    assert(state.restore(state.saved))
    expected[i] = state.go_on()
  end
end

-- The right text restores, and what follows is what it was.
local function check_unharmed (i)
  local state = states[i]
  local ok, why = state.restore(state.saved)
  if not ok then fault.raise("law", "%s refuses its own state: %s", state.name, why) end
  if state.go_on() ~= expected[i] then fault.raise("law", "%s goes on otherwise than before", state.name) end
end

local function mutant (random, state)
  if not state.kind or random:once_in(4) then return mutations.of_bytes(random, state.saved), false end
  if random:once_in(2) then return mutations.signed(random, state.saved), true end
  return mutations.of_values(random, state.kind, state.saved), true
end

--- Mutation `number` of a seed; raises a fault, or returns whether it was taken.
function mutate.one (seed, number)
  prepare()
  local random = Random.new(seed * 1000003 + number)
  local i = random:integer(1, #states)
  local state = states[i]
  local text, is_signed = mutant(random, state)
  local taken = false
  world.try(function ()
    local ok, why = state.restore(text)
    if not ok and type(why) ~= "string" then fault.raise("law", "%s refuses without a word", state.name) end
    taken = ok
  end)
  if taken and state.kind and not is_signed and text ~= state.saved then
    fault.raise("law", "%s takes a damaged text", state.name)
  end
  if taken then world.try(function () state.go_on() end) end
  world.try(function () check_unharmed(i) end)
  return taken
end

return mutate
