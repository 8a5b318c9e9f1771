# SPDX-License-Identifier: Apache-2.0
# cmake -DFILES=... -DOUT=planner_id.inc -P planner_id.cmake: a number for all that planning is compiled of.
set(digests)
foreach(file ${FILES})
    file(SHA256 ${file} digest)
    string(APPEND digests ${digest})
endforeach()
string(SHA256 id "${digests}")
string(SUBSTRING ${id} 0 32 id)
file(WRITE ${OUT} "#define CLF_PLANNER_ID \"${id}\"\n")
