#!/usr/bin/env bash
# Jobs a second: `attn-cli batch` beside a shell loop over `attn-cli compute` and a Python process (with numpy, where
# python has it) for each job. All write the weights of the same four tokens, each job to a file of its own. Then the same
# with a picture for each job, beside the shell loop.
#
#   bench/batch.sh [ATTN_CLI] [JOBS]        PYTHON=python3 names another interpreter
set -euo pipefail

cli=$(realpath "${1:-build/attn-cli}")
jobs=${2:-1000}
few=$((jobs < 200 ? jobs : 200))  # of the slow ways: enough to know their pace
fewer=$((jobs < 40 ? jobs : 40))
python=${PYTHON:-python3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

echo '{"tokens": ["The", "cat", "is", "cute"], "embeddings": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}' > cat.json
cat > one.py <<'END_OF_PROGRAM'
import csv, json, math, sys
document = json.load(open(sys.argv[1]))
tokens, x = document["tokens"], document["embeddings"]
try:
    import numpy
    x = numpy.array(x, float)
    scores = x @ x.T / math.sqrt(x.shape[1])
    scores[numpy.triu_indices(len(x), 1)] = -numpy.inf
    weights = numpy.exp(scores - scores.max(axis=1, keepdims=True))
    weights = (weights / weights.sum(axis=1, keepdims=True)).tolist()
except ImportError:
    weights = []
    for i, q in enumerate(x):
        row = [math.exp(sum(a * b for a, b in zip(q, k)) / math.sqrt(len(q))) if j <= i else 0 for j, k in enumerate(x)]
        weights.append([value / sum(row) for value in row])
with open(sys.argv[2], "w", newline="") as out:
    csv.writer(out).writerows([["query", *tokens], *([token, *row] for token, row in zip(tokens, weights))])
END_OF_PROGRAM
for ((i = 0; i < jobs; i++)); do
  echo "{\"command\": \"compute\", \"input\": \"cat.json\", \"causal\": true, \"weights\": [\"b$i.csv\"]}"
done > jobs.jsonl
sed 's/\.csv/.png/' jobs.jsonl > pictures.jsonl

with_batch() { "$cli" batch jobs.jsonl --quiet "$@" > results.jsonl; }
with_shell() { for ((i = 0; i < few; i++)); do "$cli" compute cat.json --causal -w "s$i.csv"; done; }
pictures_with_batch() { "$cli" batch pictures.jsonl --quiet > results.jsonl; }
pictures_with_shell() { for ((i = 0; i < few; i++)); do "$cli" compute cat.json --causal -w "s$i.png"; done; }
with_python() { for ((i = 0; i < fewer; i++)); do "$python" one.py cat.json "p$i.csv"; done; }

# pace NAME COUNT COMMAND: jobs a second, the best of three runs
pace() {
  local name=$1 count=$2 best=0 begin end
  shift 2
  for _ in 1 2 3; do
    begin=$(date +%s%N); "$@"; end=$(date +%s%N)
    best=$(awk -v best="$best" -v n="$count" -v t=$((end - begin)) 'BEGIN { p = n * 1e9 / t; print (p > best ? p : best) }')
  done
  printf '%-42s %10.1f jobs/s\n' "$name" "$best"
  last=$best
}

"$python" -c 'import numpy' 2> /dev/null && numpy="with numpy" || numpy="without numpy"
pace "attn-cli batch" "$jobs" with_batch; batch=$last
pace "attn-cli batch --jobs 1" "$jobs" with_batch --jobs 1
pace "shell loop over attn-cli compute" "$few" with_shell; shell=$last
pace "a Python process for each ($numpy)" "$fewer" with_python; loop=$last
cmp b0.csv s0.csv
awk -v b="$batch" -v s="$shell" -v p="$loop" 'BEGIN { printf "batch is %.1f times the shell loop and %.1f times the Python loop\n", b / s, b / p }'
pace "attn-cli batch, pictures" "$jobs" pictures_with_batch; batch=$last
pace "shell loop, pictures" "$few" pictures_with_shell; shell=$last
cmp b0.png s0.png
awk -v b="$batch" -v s="$shell" 'BEGIN { printf "batch draws %.1f times as many pictures as the shell loop\n", b / s }'
