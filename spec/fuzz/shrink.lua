--- Makes a failing program smaller: drops statements as long as what is left fails.
--
-- Runs of half of the statements are tried first, then of a quarter, and so on down to single ones, until no single
-- one can go.

local function without (list, first, n)
  local rest = { table.unpack(list, 1, first - 1) }
  table.move(list, first + n, #list, #rest + 1, rest)
  return rest
end

-- Drops what runs of n can be dropped, later ones first. Returns the rest and whether it is less.
local function drop (statements, n, fails)
  local smaller = false
  for first = #statements - n + 1, 1, -n do
    local rest = without(statements, first, n)
    if fails(rest) then statements, smaller = rest, true end
  end
  return statements, smaller
end

return function (statements, fails)
  local n = #statements // 2
  while n >= 1 do
    local smaller
    statements, smaller = drop(statements, n, fails)
    if not (smaller and n == 1) then n = n // 2 end
  end
  return statements
end
