# Turns the pages under lib/render/web into one C++ source. Included, it gives attn_embed_web(); run by cmake -P, it does
# the work at build time, so that a changed .css or .js rebuilds the pages that hold it.

function(attn_embed_web target directory)
  set(source "${PROJECT_BINARY_DIR}/generated/html_assets.cpp")
  file(GLOB parts CONFIGURE_DEPENDS "${directory}/*.html" "${directory}/*.css" "${directory}/*.js")
  add_custom_command(
    OUTPUT "${source}"
    COMMAND "${CMAKE_COMMAND}" "-DWEB=${directory}" "-DOUT=${source}" -P "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
    DEPENDS ${parts} "${CMAKE_CURRENT_FUNCTION_LIST_FILE}"
    COMMENT "Embedding the web pages" VERBATIM)
  target_sources(${target} PRIVATE "${source}")
  # A page is one text, longer than what the standard asks compilers to take.
  set_source_files_properties("${source}" PROPERTIES COMPILE_OPTIONS "-Wno-overlength-strings")
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE)
  return()
endif()

# Files one after the other, in the order given.
function(read_parts out)
  set(text "")
  foreach(name ${ARGN})
    file(READ "${WEB}/${name}" part)
    string(APPEND text "${part}")
  endforeach()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# One WebPage: its markup, its style and its script with their digests, which the page's security policy names.
function(append_page name markup styles scripts)
  read_parts(markup_text ${markup})
  read_parts(style_text ${styles})
  read_parts(script_text ${scripts})
  set(style_text "\n${style_text}")
  set(script_text "\n(() => {\n'use strict';\n${script_text}})();\n")
  string(SHA256 style_digest "${style_text}")
  string(SHA256 script_digest "${script_text}")
  set(page "const WebPage& ${name}() {\n  static const WebPage page{R\"attn_web(${markup_text})attn_web\",\n")
  string(APPEND page "R\"attn_web(${style_text})attn_web\",\n\"${style_digest}\",\n")
  string(APPEND page "R\"attn_web(${script_text})attn_web\",\n\"${script_digest}\"};\n  return page;\n}\n")
  set(pages "${pages}${page}" PARENT_SCOPE)
endfunction()

cmake_policy(SET CMP0054 NEW)
set(pages "")
append_page(attention_page page.html "common.css;page.css"
            "common.js;data.js;state.js;colors.js;raster.js;labels.js;layout.js;search.js;heatmap.js;lines.js;panel.js;thumbnails.js;export.js;controls.js;main.js")
append_page(explanation_page explain.html "common.css;explain.css" "common.js;explain_data.js;explain_tables.js;explain_steps.js;explain_main.js")
file(WRITE "${OUT}" "// Made from lib/render/web by cmake/EmbedWeb.cmake.\n#include \"render/html_assets.hpp\"\n\nnamespace attn {\ninline namespace v1 {\n${pages}}  // namespace v1\n}  // namespace attn\n")
