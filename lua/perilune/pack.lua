--- Values as strings, for whoever saves a game.
local errors = require "perilune.errors"
local packed = require "perilune.packed"

local VALUE = "perilune value"

--@ peri.pack(value) -> string
-- Numbers, strings, booleans, tensors and tables of these as a string, from which unpack makes them again to the last
-- bit, on every machine: a save of a game, say, with rng:state(), fit:state() and optimiser:state() in it.
--   value  whatever it is; keys of tables are strings or integers
-- > unpack(pack { 1, "two", tensor { 3, 4 } })[3]
-- Tensor(2)
--   3  4
local function pack (value, ...)
  errors.no_more("pack(value)", ...)
  return packed.pack(VALUE, value)
end

--@ peri.unpack(text) -> value, or nil and string
-- What pack made a string of; nil and why not, for what it did not, or what is damaged. Nothing in it is executed.
--   text  string
-- > unpack "something else"
-- nil  not a saved perilune value
local function unpack (text, ...)
  errors.no_more("unpack(text)", ...)
  return packed.unpack(VALUE, text)
end

return { pack = pack, unpack = unpack }
