--- The results of a snippet as one line of text.
return function (...)
  local parts = table.pack(...)
  for i = 1, parts.n do parts[i] = tostring(parts[i]) end
  return (table.concat(parts, " | "):gsub("\n", " / "))
end
