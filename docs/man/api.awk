# SPDX-License-Identifier: Apache-2.0
# api.awk: manual pages (scdoc) of the public header, one for each group. A group begins with a line of dashes and its name; a comment
# /** ... */ belongs to the declarations behind it; a plain comment inside a group is a paragraph of the page.
# awk -v out=FOLDER -f api.awk clfuse.h     writes FOLDER/clfuse-GROUP.3.scd and FOLDER/names: "function page" lines
function escape(s) {
    gsub(/[\\*_`<>~]/, "\\\\&", s)
    return s
}
function plain(s) {
    sub(/^[ \t]*\/\*\*?/, "", s)
    sub(/\*\/[ \t]*$/, "", s)
    sub(/^[ \t]*\*/, "", s)
    gsub(/^[ \t]+|[ \t]+$/, "", s)
    return s
}
function finish_page() {
    if (!page) return
    printf "# SEE ALSO\n\n*clfuse*(1), *clfuse-environment*(7), *clfuse-operators*(7)\n" >>page
    close(page)
    page = ""
}
function begin_page(title) {
    finish_page()
    group = tolower(title)
    gsub(/ /, "-", group)
    page = out "/clfuse-" group ".3.scd"
    printf "clfuse-%s(3)\n\n# NAME\n\nclfuse-%s - %s\n\n# SYNOPSIS\n\n*#include <clfuse/clfuse.h>*++\ncc prog.c $(pkg-config --cflags --libs clfuse)\n\n# DESCRIPTION\n\n", group, group, (group in about ? about[group] : escape(title)) >page
}
BEGIN {
    about["context"] = "opening and closing contexts, settings, the last error"
    about["leaves"] = "matrices from memory, files, numbers and generators; sparse matrices"
    about["recording"] = "operators, aggregates, products, indexing, derivatives: recorded, not run"
    about["results"] = "evaluating and reading values; handles and epochs"
    about["functions"] = "programs with parameters, recorded once and run many times"
    about["language"] = "programs and formulas as text"
    about["seeing-what-happens"] = "plans, counters, memory, devices, calibration"
}
/^\/\* --------------------/ {
    title = $0
    sub(/^\/\* -+ /, "", title)
    sub(/[ *\/]+$/, "", title)
    begin_page(title)
    if ($0 !~ /\*\/$/) { inside = "prose"; text = "" }
    next
}
!page { next }
inside == "" && /^[ \t]*\/\*/ {
    inside = $0 ~ /\/\*\*/ ? "doc" : "prose"
    text = plain($0)
    if ($0 ~ /\*\/[ \t]*$/) stop = 1
    else next
}
inside != "" && !stop {
    line = plain($0)
    text = text (text == "" ? "" : " ") line
    if ($0 !~ /\*\/[ \t]*$/) next
    stop = 1
}
stop {
    if (inside == "prose" && text != "") printf "%s\n\n", escape(text) >>page
    if (inside == "doc") doc = text
    inside = ""
    stop = 0
    next
}
/^#ifdef|^#endif|^}|^$/ && !declaration { if (doc == "" || !/^$/) { if (shown) printf "\n" >>page; shown = 0 } }
/^#/ { next }
/^(CLF_API|typedef|enum)/ || declaration {
    code = (declaration ? code "\n" : "") $0
    depth += gsub(/{/, "{") - gsub(/}/, "}")
    declaration = !(depth == 0 && /;[ \t]*(\/\*.*)?$/)
    if (declaration) next
    printf "```\n%s\n```\n\n", code >>page
    if (doc != "") printf "%s\n\n", escape(doc) >>page
    doc = ""
    if (code ~ /^CLF_API/) {
        name = code
        sub(/\(.*/, "", name)
        sub(/.*[ *]/, "", name)
        print name, "clfuse-" group >>(out "/names")
    }
}
END { finish_page() }
