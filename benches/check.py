#!/usr/bin/env python3
"""Measures `rollgate check` as a whole program, and kubeconform 0.8.0 beside it on the same files.

usage: benches/check.py [--rollgate PATH] [--runs N] [--stream-gib N]

Builds kubeconform with Go, and its schema of a Deployment out of Kubernetes' own OpenAPI document (both
in ~/.cache/rollgate), writes 10,000 small valid Deployments as 100 files and as 10,000, and prints:
the time and processor time of both programs on both folders and the ratio; how long one manifest takes as a process; the
memory that a stream of one GiB takes. The runs of the two programs alternate, so that a busy machine
slows both."""
import argparse, json, os, pathlib, statistics, subprocess, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache') / 'rollgate'

MANIFEST = '''apiVersion: apps/v1
kind: Deployment
metadata:
  name: web-{n}
  labels:
    app: web-{n}
spec:
  replicas: 3
  selector:
    matchLabels:
      app: web-{n}
  template:
    metadata:
      labels:
        app: web-{n}
    spec:
      containers:
      - name: web
        image: nginx:1.27
        ports:
        - containerPort: 80
        resources:
          requests:
            cpu: 100m
            memory: 64Mi
'''


def go(*command, **more):
    return subprocess.run(['go', *command], check=True, env={**os.environ, 'GOTOOLCHAIN': 'local', **more.pop('env', {})}, **more)


def kubeconform():
    """The program, built if it is not there yet."""
    path = CACHE / 'tools/bin/kubeconform'
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        go('install', 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0', env={'GOBIN': str(path.parent)}, cwd='/')
    return str(path)


def schema(folder):
    """Writes a strict schema of a Deployment without references, as kubeconform's own schemas are, and
    gives the template of its location."""
    module = go('list', '-m', '-f', '{{.Dir}}', 'k8s.io/kubernetes', cwd=ROOT / 'tests/differential', capture_output=True, text=True)
    definitions = json.load(open(pathlib.Path(module.stdout.strip()) / 'api/openapi-spec/swagger.json'))['definitions']

    def strict(node):
        if isinstance(node, list):
            return [strict(x) for x in node]
        if not isinstance(node, dict):
            return node
        if '$ref' in node:
            name = node['$ref'].split('/')[-1]
            if name.endswith('.IntOrString'):
                return {'oneOf': [{'type': 'string'}, {'type': 'integer'}]}
            if name.endswith('.Quantity'):
                return {'oneOf': [{'type': 'string'}, {'type': 'number'}]}
            return strict(definitions[name])
        out = {k: strict(v) for k, v in node.items() if k not in ('description', 'default') and not k.startswith('x-')}
        if 'properties' in out:
            out['additionalProperties'] = False
        return out

    with open(folder / 'deployment.json', 'w') as file:
        json.dump(strict({'$ref': 'io.k8s.api.apps.v1.Deployment'}), file)
    return str(folder / '{{.ResourceKind}}.json')


def manifests(folder):
    many, single = folder / 'hundred', folder / 'single'
    many.mkdir(), single.mkdir()
    for f in range(100):
        docs = [MANIFEST.format(n=f * 100 + i) for i in range(100)]
        (many / f'{f:03}.yaml').write_text('---\n'.join(docs))
        for i, doc in enumerate(docs):
            (single / f'{f * 100 + i:05}.yaml').write_text(doc)
    return {'100 files of 100': many, '10,000 files of 1': single}


def timed(command):
    """How long a command takes, and how much processor time (s)."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        start = time.perf_counter()
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f'{command}: exit {child.returncode}')
    return seconds, usage.ru_utime + usage.ru_stime


def side_by_side(ours, theirs, runs):
    """The medians of both, each as time and processor time."""
    a, b = [], []
    for _ in range(runs):
        a.append(timed(ours))
        b.append(timed(theirs))
    return [[statistics.median(run[i] for run in runs_of) for i in (0, 1)] for runs_of in (a, b)]


def stream(rollgate, gib):
    """The peak memory (MiB) and the time (s) for that many GiB on standard input."""
    part = '---\n'.join(MANIFEST.format(n=n) for n in range(3000)).encode() + b'---\n'
    with subprocess.Popen([rollgate, 'check', '-'], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as child:
        start, left = time.perf_counter(), gib << 30
        while left > 0:
            child.stdin.write(part)
            left -= len(part)
        child.stdin.close()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f'the stream was refused: exit {child.returncode}')
    return usage.ru_maxrss / 1024, time.perf_counter() - start


def main():
    options = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    options.add_argument('--rollgate', default=str(ROOT / 'target/release/rollgate'))
    options.add_argument('--runs', type=int, default=5)
    options.add_argument('--stream-gib', type=int, default=1)
    o = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        location, other = schema(folder), kubeconform()
        cores = str(os.cpu_count())
        for name, files in manifests(folder).items():
            ours, theirs = side_by_side(
                [o.rollgate, 'check', str(files)],
                [other, '-strict', '-n', cores, '-schema-location', location, str(files)], o.runs)
            for what, mine, other_s in zip(('time', 'processor'), ours, theirs):
                print(f'{name:<18} {what:<10} rollgate {mine * 1000:6.0f} ms   kubeconform {other_s * 1000:6.0f} ms   {other_s / mine:5.1f} times')
        one = next((folder / 'single').iterdir())
        times = sorted(timed([o.rollgate, 'check', str(one)])[0] * 1000 for _ in range(200))
        print(f'one manifest       median {times[100]:.1f} ms, 99% within {times[198]:.1f} ms, the whole process')
    if o.stream_gib:
        memory, seconds = stream(o.rollgate, o.stream_gib)
        print(f'{o.stream_gib} GiB on stdin     {memory:.0f} MiB at most, {seconds:.0f} s')


if __name__ == '__main__':
    main()
