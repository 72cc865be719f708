#!/usr/bin/env python3
"""Runs Kubernetes' own integration tests of the Deployment controller, with rollgate in its place.

usage: tests/upstream/run.py --etcd DIR [--rollgate FILE | --built-in] [TEST…]

The tests are those of k8s.io/kubernetes/test/integration/deployment in the version of
tests/differential/go.mod, read from there and unchanged but for where the controller comes from: each
starts an API server of its own, and then not the built-in controller but controller.go, which starts the
rollgate program and kills it at the end. DIR holds an `etcd`. Prints how long each test took; fails if
one does."""
import argparse, os, pathlib, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
MODULE = HERE.parent / 'differential'
FILES = ['deployment_test.go', 'main_test.go', 'util.go']
CHANGES = {
    '"k8s.io/kubernetes/pkg/controller/deployment"': 'deployment "upstream/controller"',
    'dc, err := deployment.NewDeploymentController(': 'deployment.ServerConfig = config\n\tdc, err := deployment.NewDeploymentController(',
}
FEWEST_TESTS = 17


def go(*command, cwd, **more):
    env = {**os.environ, 'GOTOOLCHAIN': 'local'}
    return subprocess.run(['go', *command], cwd=cwd, check=True, text=True, env=env, **more)


def build(folder, built_in):
    """Makes a module of the tests and their controller; gives the program of the tests."""
    found = go('list', '-m', '-f', '{{.Dir}}', 'k8s.io/kubernetes', cwd=MODULE, capture_output=True)
    upstream = pathlib.Path(found.stdout.strip()) / 'test/integration/deployment'
    tests, controller = folder / 'deployment', folder / 'controller'
    tests.mkdir(), controller.mkdir()
    shutil.copy(HERE / 'controller.go', controller)
    shutil.copy(MODULE / 'go.sum', folder)
    requirements = (MODULE / 'go.mod').read_text().split('\n', 1)[1]
    (folder / 'go.mod').write_text(f'module upstream\n{requirements}')
    for name in FILES:
        text = (upstream / name).read_text()
        for old, new in {} if built_in or name != 'util.go' else CHANGES.items():
            if text.count(old) != 1:
                raise SystemExit(f'{upstream / name} has {old} {text.count(old)} times, not once')
            text = text.replace(old, new)
        (tests / name).write_text(text)
    program = folder / 'tests'
    go('test', '-c', '-mod=mod', '-o', str(program), './deployment', cwd=folder)
    return program


def run(program, names, etcd, rollgate):
    """Runs the tests one by one, as upstream does; gives the names of those that failed."""
    env = {**os.environ, 'PATH': f'{etcd}:{os.environ["PATH"]}', 'ROLLGATE': rollgate}
    failed = []
    for name in names:
        done = subprocess.run([program, '-test.run', f'^{name}$', '-test.v', '-test.timeout', '5m'],
                              env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace')
        results = [line for line in done.stdout.splitlines() if line.startswith('--- ')]
        print(results[-1] if results else f'--- FAIL: {name} told nothing', flush=True)
        if done.returncode != 0 or not any(r.startswith('--- PASS') for r in results):
            failed.append(name)
            print(done.stdout[-8000:], file=sys.stderr)
    return failed


def main():
    options = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    options.add_argument('--etcd', required=True, type=pathlib.Path)
    options.add_argument('--rollgate', default=str(HERE.parent.parent / 'target/release/rollgate'))
    options.add_argument('--built-in', action='store_true', help="upstream's own controller, to compare")
    options.add_argument('tests', nargs='*')
    o = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        program = build(folder, o.built_in)
        listed = subprocess.run([program, '-test.list', '.'], capture_output=True, text=True, env={**os.environ, 'PATH': f'{o.etcd}:{os.environ["PATH"]}'})
        names = o.tests or [line for line in listed.stdout.splitlines() if line.startswith('Test')]
        if not o.tests and len(names) < FEWEST_TESTS:
            raise SystemExit(f'found {len(names)} tests, {FEWEST_TESTS} were expected:\n{listed.stdout}{listed.stderr}')
        failed = run(program, names, o.etcd, os.path.abspath(o.rollgate))
    print(f'{len(names) - len(failed)} of {len(names)} pass')
    sys.exit(bool(failed))


main()
