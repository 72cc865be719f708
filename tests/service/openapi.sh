#!/usr/bin/env bash
# Checks the service against its own description with schemathesis: requests that the description
# allows and requests that it forbids, and that every answer is one that it names.
#
# usage: tests/service/openapi.sh [ROLLGATE]
#
# Needs Python with venv. Installs schemathesis (pinned) into target/schemathesis at the first run.
set -euo pipefail
cd "$(dirname "$0")/../.."

rollgate=${1:-target/debug/rollgate}
venv=target/schemathesis
st=$venv/bin/st
[[ -x $st ]] || { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet schemathesis==4.32.5; }

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$rollgate" serve --listen 127.0.0.1:0 --plain-listen "127.0.0.1:$port" --drain-secs 0 --log warn &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server" 2>/dev/null || true' EXIT
for _ in $(seq 100); do
  curl --silent --fail "http://127.0.0.1:$port/readyz" >/dev/null && break
  sleep 0.1
done

"$st" run "http://127.0.0.1:$port/openapi.json" --checks all --mode all --seed 1 \
  --max-examples "${MAX_EXAMPLES:-50}" --generation-database none
