#!/usr/bin/env python3
"""Rollouts by rollgate and by the built-in controller, side by side on one API server.

    run.py --programs DIR --rollgate FILE [--deployments 100] [--ready-after 0s]

DIR holds etcd, kube-apiserver and kube-controller-manager, as `.ci/run` builds them, and `nodes`, a program
that plays the kubelets. Each controller in turn, alone in its process, finds one Deployment when it starts, and
is given N more of 3 replicas; when all are complete, all get a new image at once. Printed for each: the time from
its start to the first status that it wrote, object writes by kind and conflicts (from the API server's audit
log), events, CPU time and peak memory of the controller's process, and the time until the last rollout was
complete.
"""

import argparse
import collections
import concurrent.futures
import http.client
import json
import os
import pathlib
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time

AUDIT = """apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  verbs: [create, update, patch, delete]
  resources: [{group: apps, resources: ["*"]}, {group: "", resources: [events]}]
- level: None
"""
TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Cluster:
    """etcd, an API server, the other controllers and play-kubelets, in a folder of their own."""

    def __init__(self, programs, folder, ready_after):
        self.programs, self.folder, self.started = programs, folder, []
        self.port, etcd, peer = free_port(), free_port(), free_port()
        self.local = threading.local()
        key, public = folder / "sa.key", folder / "sa.pub"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        subprocess.run(["openssl", "rsa", "-in", key, "-pubout", "-out", public], check=True, capture_output=True)
        (folder / "tokens.csv").write_text("bench,admin,admin,system:masters\n")
        (folder / "audit.yaml").write_text(AUDIT)
        self.start("etcd", "--data-dir", folder / "etcd", "--unsafe-no-fsync",
                   f"--listen-client-urls=http://127.0.0.1:{etcd}", f"--advertise-client-urls=http://127.0.0.1:{etcd}",
                   f"--listen-peer-urls=http://127.0.0.1:{peer}", f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
                   f"--initial-cluster=default=http://127.0.0.1:{peer}")
        self.start("kube-apiserver", f"--etcd-servers=http://127.0.0.1:{etcd}", "--bind-address=127.0.0.1",
                   f"--secure-port={self.port}", f"--cert-dir={folder}/certs", f"--service-account-key-file={public}",
                   f"--service-account-signing-key-file={key}", "--service-account-issuer=https://kubernetes.default.svc",
                   f"--token-auth-file={folder}/tokens.csv", "--authorization-mode=RBAC",
                   "--disable-admission-plugins=ServiceAccount", f"--audit-policy-file={folder}/audit.yaml",
                   f"--audit-log-path={folder}/audit.log", "--max-requests-inflight=2000",
                   "--max-mutating-requests-inflight=1000")
        self.config = folder / "kubeconfig"
        self.config.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "x",
            "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{self.port}", "insecure-skip-tls-verify": True}}],
            "users": [{"name": "u", "user": {"token": "bench"}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}]}))
        self.wait_for(lambda: self.call("GET", "/readyz") is not None)
        self.start("kube-controller-manager", f"--kubeconfig={self.config}", "--leader-elect=false", "--secure-port=0",
                   "--controllers=replicaset-controller,garbage-collector-controller,namespace-controller",
                   "--kube-api-qps=5000", "--kube-api-burst=5000", "--concurrent-replicaset-syncs=20")
        self.start("nodes", "-kubeconfig", self.config, "-ready-after", ready_after)

    def start(self, program, *args, path=None):
        log = open(self.folder / f"{program}-{len(self.started)}.log", "wb")
        process = subprocess.Popen([path or self.programs / program, *map(str, args)], stdout=log, stderr=log)
        self.started.append(process)
        return process

    def stop(self):
        for process in reversed(self.started):
            process.terminate()
        for process in self.started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()

    def call(self, verb, path, body=None, content="application/json"):
        for _ in range(2):
            try:
                if not hasattr(self.local, "http"):
                    self.local.http = http.client.HTTPSConnection("127.0.0.1", self.port, context=ssl._create_unverified_context())
                self.local.http.request(verb, path, body and json.dumps(body), {"Authorization": "Bearer bench", "Content-Type": content})
                answer = self.local.http.getresponse()
                text = answer.read()
                if answer.status < 300:
                    return json.loads(text) if text.startswith(b"{") else text
                if answer.status != 409:
                    return None
                return {}
            except (OSError, http.client.HTTPException):
                del self.local.http
        return None

    def wait_for(self, condition, every=0.1, secs=900):
        end = time.monotonic() + secs
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError("gave up waiting")
            time.sleep(every)


def deployment(name):
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "labels": labels},
            "spec": {"replicas": 3, "selector": {"matchLabels": labels},
                     "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "web:1"}]}}}}


def is_complete(d):
    s, n = d.get("status", {}), d["spec"]["replicas"]
    return (s.get("observedGeneration", 0) >= d["metadata"]["generation"]
            and all(s.get(k, 0) == n for k in ("replicas", "updatedReplicas", "availableReplicas")))


def cpu_secs(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def peak_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def audit(folder, namespace, offset):
    """Writes of the controller's since an offset: by kind, refused as stale, and events."""
    writes, conflicts, events = collections.Counter(), 0, 0
    with open(folder / "audit.log") as log:
        log.seek(offset)
        for line in log:
            entry = json.loads(line)
            about, agent = entry.get("objectRef", {}), entry.get("userAgent", "")
            if about.get("namespace") != namespace or not ("deployment-controller" in agent or agent.startswith("rollgate")):
                continue
            if about["resource"] == "events":
                events += 1
                continue
            part = about["resource"] + ("/" + about["subresource"] if about.get("subresource") else "")
            verb = "create" if entry["verb"] == "create" else "delete" if entry["verb"] == "delete" else "change"
            writes[f"{verb} {part}"] += 1
            conflicts += entry.get("responseStatus", {}).get("code") == 409
    return writes, conflicts, events


def start_to_first_sync(cluster, namespace, start):
    """Starts a controller; gives its process, and the seconds until it had written a status."""
    base = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    cluster.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    cluster.call("POST", base, deployment("first"))
    began = time.monotonic()
    process = start()
    cluster.wait_for(lambda: cluster.call("GET", base + "/first").get("status"), every=0.002)
    return process, time.monotonic() - began


def measure(cluster, title, namespace, process, count):
    base = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    cluster.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    names = [f"d{i:05}" for i in range(count)]
    complete = lambda: sum(map(is_complete, cluster.call("GET", base + "?resourceVersion=0")["items"])) == count
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: cluster.call("POST", base, deployment(name)), names))
        cluster.wait_for(complete)
        time.sleep(3)
        offset, cpu = (cluster.folder / "audit.log").stat().st_size, cpu_secs(process.pid)
        start = time.monotonic()
        patch = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "web:2"}]}}}}
        list(pool.map(lambda name: cluster.call("PATCH", f"{base}/{name}", patch, "application/merge-patch+json"), names))
        cluster.wait_for(complete)
        wall = time.monotonic() - start
    time.sleep(3)
    cpu = cpu_secs(process.pid) - cpu
    writes, conflicts, events = audit(cluster.folder, namespace, offset)
    each = {kind: round(n / count, 2) for kind, n in sorted(writes.items())}
    print(f"{title:9} N={count}: {sum(writes.values()) / count:.1f} object writes {each}, {conflicts / count:.2f} conflicts, "
          f"{events / count:.1f} event writes, {1000 * cpu / count:.1f} ms CPU a rollout; {peak_mib(process.pid):.0f} MiB peak; {wall:.1f} s", flush=True)
    # What comes next is not to be measured beside the clearing away of this.
    cluster.call("DELETE", f"/api/v1/namespaces/{namespace}")
    cluster.wait_for(lambda: cluster.call("GET", f"/api/v1/namespaces/{namespace}") is None, every=1)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--programs", type=pathlib.Path, required=True)
    args.add_argument("--rollgate", type=pathlib.Path, required=True)
    args.add_argument("--deployments", type=int, default=100)
    args.add_argument("--ready-after", default="0s")
    args.add_argument("--only", choices=["built-in", "rollgate"])
    args = args.parse_args()
    with tempfile.TemporaryDirectory(prefix="rollout-bench-") as folder:
        cluster = Cluster(args.programs, pathlib.Path(folder), args.ready_after)
        try:
            built_in = lambda: cluster.start(
                "kube-controller-manager", f"--kubeconfig={cluster.config}", "--leader-elect=false", "--secure-port=0",
                "--controllers=deployment-controller", "--kube-api-qps=1000", "--kube-api-burst=2000")
            ours = lambda: cluster.start("rollgate", "controller", f"--kubeconfig={cluster.config}", "--leader-elect=false",
                                         "--takeover-check=off", "--plain-listen=none", path=args.rollgate)
            for title, start in [("built-in", built_in), ("rollgate", ours)]:
                if args.only in (None, title):
                    process, secs = start_to_first_sync(cluster, "first-" + title, start)
                    print(f"{title:9} {1000 * secs:.0f} ms from its start to the first status", flush=True)
                    time.sleep(2)
                    measure(cluster, title, "bench-" + title, process, args.deployments)
                    process.send_signal(signal.SIGTERM)
                    process.wait(20)
        finally:
            cluster.stop()


if __name__ == "__main__":
    main()
