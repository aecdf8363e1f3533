#!/usr/bin/env bash
# Draws a set of figures with attn-cli and puts them on one page, to be looked at as a reader of a paper would.
#   bash samples/gallery/make_gallery.sh [FOLDER] [ATTN_CLI]      (default: out/gallery, build/attn-cli)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=$(mkdir -p "${1:-$root/out/gallery}" && cd "${1:-$root/out/gallery}" && pwd)
attn_cli=$(realpath "${2:-$root/build/attn-cli}")
[ -x "$attn_cli" ] || { echo "no program at $attn_cli: bash scripts/run.sh builds it" >&2; exit 1; }

python3 -B "$here/make_inputs.py" "$folder/inputs"
cp "$root"/samples/*.json "$folder/inputs/"
cd "$folder"
page=index.html

escape() { sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/>/\&gt;/g'; }

# run WORDS...: one attn-cli command, shown on the page as it was typed. What it prints goes into its place.
run() {
  local printed
  printf '<pre class="command">attn-cli %s</pre>\n' "$(printf '%q ' "$@" | escape)" >> "$page"
  printed=$("$attn_cli" "$@" 2>&1) || { local code=$?; [ $code -eq 1 ] || { echo "attn-cli $*: $printed" >&2; exit 1; }; }
  [ -z "$printed" ] || printf '<pre>%s</pre>\n' "$(printf '%s' "$printed" | escape)" >> "$page"
}
heading() { printf '<h2>%s</h2>\n' "$1" >> "$page"; }
show() { printf '<p><img src="%s" alt="%s"></p>\n' "$1" "${1%.*}" >> "$page"; }
# figure FILE WORDS...: a command whose last option is the file it writes.
figure() { local file=$1; shift; run "$@" "$file"; show "$file"; }

cat > "$page" <<'HEAD'
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Gallery of attn-cli</title>
<style>body{font-family:sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}img{max-width:100%}
pre{background:#f4f4f6;padding:.6rem;overflow-x:auto;line-height:1.15}.command{border-left:4px solid #3b528b}</style></head><body>
<h1>Gallery</h1>
HEAD

heading "One head"
figure causal.png compute inputs/cat.json --causal --title "The cat is cute" -w
figure chinese.png compute inputs/chinese.json -w
figure cross.png compute inputs/translation.json --colormap cividis -w
figure novel.png compute inputs/novel.json --causal -w
figure causal.svg compute inputs/cat.json --causal --title "The cat is cute" -w
run compute inputs/cat.json --causal --title "The cat is cute" -w causal.pdf

heading "Many heads"
figure two-heads.png compute inputs/two-heads.json -w
figure heads.png compute inputs/sentence.json --causal -w
figure heads-dark.png compute inputs/sentence.json --causal --theme dark --colormap magma --head 0-2,6 -w
figure long-heads.png compute -Q inputs/long-query.npy -K inputs/long-key.npy --heads 12 --causal -w

heading "Large"
figure tokens512.png compute inputs/tokens512.json --causal -w
figure long-log.png compute -Q inputs/long-query.npy -K inputs/long-key.npy --heads 12 --causal --head 3 --color-scale log -w
figure long-window.png compute -Q inputs/long-query.npy -K inputs/long-key.npy --heads 12 --causal --window 300,0 --head 1 -w
figure row.png render inputs/row.npy -o

heading "Scores and differences"
run compute inputs/novel.json --scores scores.npy
figure scores.png render scores.npy --tokens "$(python3 -c 'import json; print(" ".join(json.load(open("inputs/novel.json"))["tokens"]))')" -o
figure difference.png diff inputs/weights-a.npy inputs/weights-b.npy --heatmap
figure clamped.png render inputs/weights-a.npy --vmin 0.2 --vmax 0.8 --title "Values outside 0.2 to 0.8 are clamped" -o

heading "Cells without a value"
figure documents.png compute inputs/clauses.json --causal -w
figure empty-rows.png compute inputs/cat.json --window 0,0 --query-offset 2 -w
figure nan.png render inputs/nan.npy -o
figure equal.png render inputs/equal.npy -o

heading "Tokens of all kinds"
figure long-words.png compute inputs/long-words.json -w
figure arabic.png compute inputs/arabic.json -w
figure emoji.png compute inputs/emoji.json -w
figure hostile.png compute inputs/hostile.json -w
figure bpe.png compute inputs/bpe.json -w
figure bpe-prettified.png compute inputs/bpe.json --prettify -w
figure one.png compute inputs/one.json -w

heading "Colormaps"
for map in viridis magma inferno plasma cividis grey Reds Blues RdBu; do
  figure "map-$map.png" render inputs/weights-a.npy --colormap "$map" --dpi 60 --annotate never --labels none -o
done

heading "Terminal"
run compute inputs/cat.json --causal
run compute inputs/sentence.json --causal --head 0
run render scores.npy

echo '</body></html>' >> "$page"
echo "$folder/$page"
