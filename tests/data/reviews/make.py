#!/usr/bin/env python3
"""Makes what the review tests expect, by asking upstream's own code.

usage: make.py ORACLE CORPUS.ndjson.gz

ORACLE is the admission oracle (tests/differential), CORPUS its recorded answers. Writes, beside
this file:
  expected.json   what the API server says to the object of each review in recorded/
  raw.ndjson      objects as their authors wrote them, with the object that defaulting makes of each
"""
import gzip, json, pathlib, subprocess, sys

here = pathlib.Path(__file__).parent
oracle, corpus = sys.argv[1:3]


def ask(questions):
    lines = ''.join(json.dumps(q) + '\n' for q in questions)
    out = subprocess.run([oracle], input=lines, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def prune(v):
    """Absent, null and empty mean the same."""
    if isinstance(v, dict):
        out = {k: prune(x) for k, x in v.items()}
        return {k: x for k, x in out.items() if x not in (None, {}, [], '')}
    if isinstance(v, list):
        return [prune(x) for x in v]
    return v


def is_part_of(a, b):
    """Whether b says all that a says, so that a patch that only adds leads from a to b."""
    if isinstance(a, dict):
        return isinstance(b, dict) and all(k in b and is_part_of(x, b[k]) for k, x in a.items())
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(is_part_of, a, b))
    return a == b and type(a) is type(b)


def without_zeros(sent, made):
    """Drops zeros that nobody set: Go's encoder writes them for want of a way to leave them out."""
    if isinstance(made, dict):
        sent = sent if isinstance(sent, dict) else {}
        return {k: without_zeros(sent.get(k), x) for k, x in made.items() if k in sent or x is False or x not in (0, '0')}
    if isinstance(made, list):
        return [without_zeros(sent[i] if isinstance(sent, list) else None, x) for i, x in enumerate(made)]
    return made


def expected():
    names, questions, out = [], [], {}
    for path in sorted((here / 'recorded').glob('*.json')):
        request = json.loads(path.read_text())['request']
        name, sub = path.stem, request.get('subResource', '')
        if request['resource']['resource'] != 'deployments':
            out[name] = {'allowed': True, 'because': 'foreign'}
        elif request['operation'] == 'DELETE':
            out[name] = {'allowed': True, 'because': 'not_judged'}
        elif sub == 'scale':
            # The oracle judges no Scale; these were read by eye: replicas are not negative.
            assert request['object']['spec']['replicas'] >= 0
            out[name] = {'allowed': True, 'because': 'accepted'}
        else:
            names.append(name)
            questions.append({'id': name, 'operation': request['operation'], 'subresource': sub,
                              'namespace': request['namespace'], 'object': request['object'],
                              'old_object': request['oldObject']})
    for name, answer in zip(names, ask(questions)):
        assert 'oracle_error' not in answer and 'decode_error' not in answer, answer
        entry = {'allowed': answer['allowed'], 'because': 'accepted' if answer['allowed'] else 'invalid'}
        for key, value in (('status', answer.get('status')), ('warnings', answer.get('warnings'))):
            if value:
                entry[key] = value
        out[name] = entry
    (here / 'expected.json').write_text(json.dumps(dict(sorted(out.items())), indent=1) + '\n')
    return out


def raw():
    seen, kept = set(), []
    for line in gzip.open(corpus, 'rt'):
        case = json.loads(line)
        question, answer = case['question'], case['answer']
        made, new = answer.get('defaulted'), question.get('object')
        if question.get('operation') == 'UPDATE' or not made or not new or answer.get('strict_errors'):
            continue
        sent, made = prune(new), prune(made)
        made = prune(without_zeros(sent, made))
        if not is_part_of(sent, made) or len(line) > 6000:
            continue
        # One for every set of places that defaulting adds to.
        shape = frozenset(places(sent, made))
        if shape not in seen:
            seen.add(shape)
            kept.append({'object': new, 'defaulted': made})
    kept = kept[:120]
    (here / 'raw.ndjson').write_text(''.join(json.dumps(k, separators=(',', ':')) + '\n' for k in kept))
    return kept


def places(a, b, at=''):
    for key in b if isinstance(b, dict) else range(len(b)) if isinstance(b, list) else ():
        where = f'{at}/*' if isinstance(b, list) else f'{at}/{key}'
        if isinstance(b, dict) and key not in a:
            yield where
        else:
            yield from places(a[key], b[key], where)


print(len(expected()), 'reviews;', len(raw()), 'raw objects')
