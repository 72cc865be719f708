#!/usr/bin/env python3
"""The memory of rollgate and of the built-in controller with full caches, measured the same way.

    memory.py --programs DIR --rollgate FILE [--deployments 10000]

DIR holds kube-controller-manager, as `.ci/run` builds it. Each controller in turn watches an API server of
this program's own, which lists N Deployments with 5 ReplicaSets and 3 Pods each and then keeps silent. All
of them are copies, under names and uids of their own, of one Deployment after four rollouts on a real
cluster (settled.json), so there is nothing to do about any; one of them uses Recreate, without which rollgate
would follow no Pods. Printed for each, once its processor time stands still: resident memory, its peak, and
the processor time that it took.
"""

import argparse
import http.server
import json
import pathlib
import subprocess
import tempfile
import threading
import time
import urllib.parse

from run import cpu_secs, free_port

SETTLED = json.loads((pathlib.Path(__file__).parent / "settled.json").read_text())
NAMESPACES = 100
ROLLING = '"strategy":' + json.dumps(SETTLED["deployment"]["spec"]["strategy"], separators=(",", ":"))
RECREATING = '"strategy":{"type":"Recreate"}'
PATHS = {"/apis/apps/v1/deployments": ("apps/v1", "Deployment", [SETTLED["deployment"]]),
         "/apis/apps/v1/replicasets": ("apps/v1", "ReplicaSet", SETTLED["replicasets"]),
         "/api/v1/pods": ("v1", "Pod", SETTLED["pods"])}


def copies(path, count, only_metadata):
    """The JSON of all objects of a kind, one after another."""
    version, kind, originals = PATHS[path]
    head = {"apiVersion": version, "kind": kind}
    if only_metadata:
        head = {"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata"}
        originals = [{"metadata": original["metadata"]} for original in originals]
    texts = [json.dumps({**original, **head}, separators=(",", ":")) for original in originals]
    owners = [SETTLED["deployment"]] + SETTLED["replicasets"] + SETTLED["pods"]
    uids = [o["metadata"]["uid"] for o in owners]
    for i in range(count):
        for text, original in zip(texts, originals):
            text = text.replace("web-00000", f"web-{i:05}").replace('"default"', f'"team-{i % NAMESPACES}"')
            for uid in uids:
                text = text.replace(uid, f"{uid[:24]}{i:012x}")
            yield text if i else text.replace(ROLLING, RECREATING)


class Stub(http.server.BaseHTTPRequestHandler):
    """Answers lists and watches, and finds nothing else."""

    protocol_version = "HTTP/1.1"
    count = 0
    served = set()
    ended = threading.Event()

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query)
        accept = self.headers.get("Accept", "")
        if url.path in ("/healthz", "/readyz", "/livez"):
            self.answer(200, b"ok", "text/plain")
        elif url.path not in PATHS:
            self.answer(404, b"{}", "application/json")
        elif "watch" in query:
            self.watch(url.path, "sendInitialEvents" in query, "PartialObjectMetadata" in accept)
        else:
            self.answer(422, b'{"code":422}', "application/json")

    def answer(self, status, body, content):
        self.send_response(status)
        self.send_header("Content-Type", content)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def watch(self, path, with_all, only_metadata):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        version, kind, _ = PATHS[path]
        if with_all:
            for text in copies(path, self.count, only_metadata):
                self.chunk(f'{{"type":"ADDED","object":{text}}}\n')
            place = {"resourceVersion": "1000000", "annotations": {"k8s.io/initial-events-end": "true"}}
            if only_metadata:
                version, kind = "meta.k8s.io/v1", "PartialObjectMetadata"
            self.chunk(json.dumps({"type": "BOOKMARK", "object": {
                "apiVersion": version, "kind": kind, "metadata": place, "spec": {"template": {}}}}) + "\n")
            self.served.add(path)
        self.ended.wait()

    def chunk(self, text):
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def log_message(self, *_):
        pass


def memory_mib(pid):
    fields = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    return [int(fields[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM")]


def measure(title, command, log):
    process = subprocess.Popen([str(part) for part in command], stdout=log, stderr=log)
    try:
        idle, last = 0, 0.0
        Stub.served.clear()
        while idle < 10 or len(Stub.served) < len(PATHS):
            time.sleep(1)
            now = cpu_secs(process.pid)
            idle, last = (idle + 1 if now - last < 0.05 else 0), now
        resident, peak = memory_mib(process.pid)
        print(f"{title:9} {resident:.0f} MiB resident, {peak:.0f} MiB peak, {last:.1f} s CPU", flush=True)
        return resident, peak
    finally:
        process.kill()
        process.wait()


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--programs", type=pathlib.Path, required=True)
    args.add_argument("--rollgate", type=pathlib.Path, required=True)
    args.add_argument("--deployments", type=int, default=10_000)
    args = args.parse_args()
    Stub.count, port = args.deployments, free_port()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Stub)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(prefix="memory-bench-") as folder:
        config = pathlib.Path(folder) / "kubeconfig"
        config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "x",
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
            "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}]}))
        with open(pathlib.Path(folder) / "log", "wb") as log:
            built_in = measure("built-in", [
                args.programs / "kube-controller-manager", f"--kubeconfig={config}", "--leader-elect=false",
                "--secure-port=0", "--controllers=deployment-controller"], log)
            ours = measure("rollgate", [
                args.rollgate, "controller", f"--kubeconfig={config}", "--leader-elect=false",
                "--takeover-check=off", "--plain-listen=none"], log)
    print(f"rollgate to built-in: {ours[0] / built_in[0]:.3f} resident, {ours[1] / built_in[1]:.3f} peak")
    Stub.ended.set()


if __name__ == "__main__":
    main()
