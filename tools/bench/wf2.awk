# SPDX-License-Identifier: Apache-2.0
# The report of Wide Finder 2 the plain way, to compare with: the same rules, the sums of its five tallies.
BEGIN { FS = " " }
{
  sub(/\r$/, "")
  n = split($0, f, / /)
  lines++
  if (n < 11) { malformed++; next }
  if (f[6] != "\"GET" || (f[9] != "200" && f[9] != "304" && f[9] != "404")) { ignored++; next }
  if (f[10] == "-") size = 0
  else if (f[10] ~ /^[0-9]+$/ && length(f[10]) <= 15) size = f[10]
  else { malformed++; next }
  counted++
  if (f[9] == "404") { misses[f[7]]++; next }
  bytes[f[7]] += size
  if (f[7] ~ /^\/ongoing\/When\/[0-9][0-9][0-9]x\/[0-9][0-9][0-9][0-9]\/[0-9][0-9]\/[0-9][0-9]\/[^ .]+$/) {
    hits[f[7]]++
    clients[f[1]]++
    ref = f[11]
    sub(/^"/, "", ref)
    sub(/"$/, "", ref)
    if (ref != "-" && index(ref, "http://www.tbray.org/ongoing/") != 1) refs[ref]++
  }
}
END {
  for (k in hits) h++
  for (k in bytes) { b++; sum += bytes[k] }
  for (k in misses) m++
  for (k in clients) c++
  for (k in refs) r++
  printf "%d lines: %d counted, %d ignored, %d malformed; %d %d %d %d %d; %.0f\n", lines, counted, ignored, malformed, h, b, m, c, r, sum
}
