--- Text that can be shown and compiled: without controls but breaks and tabs, and UTF-8.
return function (text)
  text = text:gsub("[%c\127]", function (c) return (c == "\n" or c == "\t") and c or "" end)
  if not utf8.len(text) then text = text:gsub("[\128-\255]", "?") end
  return text
end
