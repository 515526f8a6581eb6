# Every command of this repository. `just` alone lists them; without just: `npx rust-just@1.57.0 …`.
# Needs Node >= 20.19 and `npm ci`; what a command needs besides is in its line.

node := "node --import tsx"
# how long `just dst` runs: `just seconds=600 dst`
seconds := "60"
buf := "npx --yes @bufbuild/buf@1.75.0"

[private]
default:
    @{{just_executable()}} --list --unsorted

# answer SQS clients on 127.0.0.1:8080, health on :9090
serve:
    npm run serve

# what a newcomer runs: types, lint, unit tests
test:
    npm test

# the compiler alone
types:
    npm run types

# the linter, formatter included, as a check
lint:
    npm run lint

# mend what the formatter and the linter can
format:
    npm run format

# what a message costs: prints the tables and writes them into the documents; --check only compares
cost *args:
    {{node}} bench/cost.ts {{args}}

# whether a busy message group keeps the others of a standard queue waiting: ten minutes of virtual time
fairness *args:
    {{node}} bench/fairness.ts {{args}}

# the same as `cost` on 1, 2 and 4 real processes before a counting proxy as far away as S3, beside the simulated rows; on a quiet machine (Go)
cost-real *args:
    {{node}} test/faults/cost-real.ts {{args}}

# what a queue grows to, row by row, held to its bounds: manifest, memory, bytes per commit, receive latency; takes an hour. `just scale --small` a hundredth in a minute, `just scale in-flight` one row (Go for `restart`)
scale *args:
    {{node}} bench/scale/scale.ts {{args}}

# layout: import arrows, bans, lengths
layout:
    {{node}} --test test/tidy/layout.test.ts

# generate src/format/gen from proto/
gen:
    {{buf}} generate

# the golden buckets, read by docs/storage-format.md alone, without okuri's code (Python)
read-bucket:
    python3 test/golden/read_bucket.py

# fail when src/format/gen is not what proto/ gives
gen-check:
    bash test/tidy/generated-is-fresh.sh

# the store contract and the probe on real S3 servers (Go, Python); SeaweedFS takes minutes to build
stores *names="versitygw moto seaweedfs":
    {{node}} test/contract/real-stores.ts {{names}}

# unmodified clients on the file store and on versitygw, as a table; names run some (Go, Python, Java, Rust, Debian's PHP), `--group ci` without Java, Rust and PHP
conformance *args:
    {{node}} test/conformance/run.ts {{args}}

# what boto3, aws-sdk-js and aws-sdk-go say and hear, into test/golden/sessions; --check only compares, names choose clients (Go, Python)
record-sessions *args:
    {{node}} test/golden/sessions/record.ts {{args}}

# two nodes, one bucket, 20,000 messages, kill -9 every few seconds (Go)
crash-two-nodes *args:
    {{node}} test/faults/crash-two-nodes.ts {{args}}

# several nodes behind a lying store, killed and paused, for --seconds 600 (--nodes 3, --seed N); takes a minute more (Go)
chaos *args:
    {{node}} test/faults/chaos.ts {{args}}

# the other fault tests: backlog, disconnect, fair-groups, fifo-groups, kill-file-store, move-task, store-down, writes-per-message (most need Go)
fault name *args:
    {{node}} test/faults/{{name}}.ts {{args}}

# deterministic simulation: fresh seeds for `seconds` on two cores, or one seed with its trace
dst seed="":
    {{node}} test/simulation/dst.ts {{ if seed == "" { "--seconds " + seconds + " --jobs 2" } else { "--seed " + seed } }}

# one seed twice: equal traces, next random numbers and clocks
dst-twice seed:
    {{node}} test/simulation/dst.ts --twice {{seed}}

# 50 seeds on Node (twice), Bun and Deno: equal traces, next random numbers and clocks (--count, --from, names)
dst-runtimes *args:
    {{node}} test/simulation/on-runtimes.ts {{args}}

# the fixed set of seeds: clean, and every kind of fault comes about in it
dst-fixed:
    {{node}} test/simulation/dst.ts --fixed --reached

# unit tests with line coverage; fails under 90 %
coverage:
    npm run coverage

# unit tests and a smoke test on Node 20, 24, 26, Bun and Deno, installed into .cache
runtimes *names:
    {{node}} test/runtime/on-runtimes.ts {{names}}

# proof that the simulator sees: plants faults in a copy of src and names the seed that finds each
dst-mutants *args:
    {{node}} test/simulation/mutants.ts {{args}}

# compose.yaml against Debian's docker-compose (apt-get install docker-compose)
compose-check:
    docker-compose -f compose.yaml config --quiet

# one executable, dist/okuri, by Bun; then the smoke test on it
build:
    {{node}} test/runtime/executable.ts

# everything CI runs
ci:
    bash .ci/run
